"""The one error that a user can fix, as one line without secrets, and values as its messages quote them."""

import re
from reprlib import Repr
from typing import Any

QUOTED = 100  # characters of a value in a message
_MOST, _LONGEST_WORD = 2000, 300  # characters of a message, and of a part of it without spaces
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_SECRET = re.compile(
    r"""(?P<scheme>\b[a-z][a-z0-9+.-]+:/{1,2})  # then a user, its password, and what comes after ? or #
        (?:[^\s'"]*@)? (?P<rest>[^\s'"?\#]*) (?:[?\#][^\s'"]*)?""",
    re.IGNORECASE | re.VERBOSE,
)


class SetupError(Exception):
    """Something the user can fix: printed as one line, without a traceback, with exit code 2.

    The message says what was found, what was wanted, and what to run next. It keeps no line break, no control character
    and no user, password, query or fragment of a URL.
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def one_line(message: str) -> str:
    """A message as a terminal can show it: one line without secrets, long words and long messages shortened."""
    text = without_secrets(_CONTROL.sub(" ", message.strip()))
    text = re.sub(rf"\S{{{_LONGEST_WORD},}}", lambda word: f"{word[0][:QUOTED]}…{word[0][-40:]}", text)
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"


def without_secrets(text: str) -> str:
    """A text whose URLs have lost their user, password, query and fragment."""
    return _SECRET.sub(r"\g<scheme>\g<rest>", text) if ":/" in text else text


class _Short(Repr):
    """Python's notation of values of any size, nesting and cycle, in a bounded time."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother = 3, QUOTED, QUOTED
        self.maxlist = self.maxdict = self.maxtuple = self.maxset = 5

    def repr_int(self, value: int, level: int) -> str:
        if value.bit_length() > 1000:
            return f"<a number of about {int(value.bit_length() * 0.30103)} digits>"
        return repr(value)


_SHORT = _Short()


def shown(value: Any) -> str:
    """A value as a message quotes it: Python's notation, at most about QUOTED characters."""
    return shortened(_SHORT.repr(value))


def shortened(text: str) -> str:
    """A text of at most about QUOTED characters."""
    return text if len(text) <= QUOTED + 2 else f"{text[: QUOTED - 1]}…"
