"""Questions with their needles, read from YAML; an invalid group is an error that names it."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple

import yaml
from pydantic import ValidationError

from builders.config import Name, Strict
from builders.errors import SetupError
from builders.synthetic.overlap import shared_words
from builders.text import contains, normalise

Needle = Literal["one_hop", "literal"]
Order = Literal["default", "inverted"]

NEEDLES: tuple[Needle, ...] = ("one_hop", "literal")
ORDERS: tuple[Order, ...] = ("default", "inverted")


class Orders(Strict):
    """A needle with the character's name in its first half (default) and in its second (inverted)."""

    default: str
    inverted: str


class Wording(Strict):
    """A question for a character, and its needles.

    `one_hop` shares no content word with the question, so recognising it as the answer takes one step of common
    knowledge; `literal` repeats the question's words.
    """

    name: str
    question: str
    one_hop: Orders
    literal: Orders

    def text(self, needle: Needle, order: Order) -> str:
        """The text of a needle."""
        found: str = getattr(getattr(self, needle), order)
        return found


class Group(NamedTuple):
    """A wording with its id (`{category}-{key}`) and its category."""

    id: str
    category: str
    wording: Wording

    @property
    def needles(self) -> list[tuple[Needle, Order, str]]:
        """All needles with their texts."""
        return [(needle, order, self.wording.text(needle, order)) for needle in NEEDLES for order in ORDERS]

    def as_json(self) -> dict[str, Any]:
        """The group as JSON values."""
        return {**self._asdict(), "wording": self.wording.model_dump()}

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> "Group":
        """The group from the values of `as_json`."""
        return cls(**{**value, "wording": Wording.model_validate(value["wording"])})


class _File(Strict):
    categories: dict[Name, dict[Name, Wording]]


def read_groups(path: Path) -> list[Group]:
    """The groups of a file, in its order: category -> key -> wording; SetupError names the first invalid one."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
        file = _File.model_validate({"categories": values})
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SetupError(f"{path} is not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        raise SetupError(f"{path}: {_problem(error.errors()[0])}") from None
    groups = [
        Group(f"{category}-{key}", category, wording)
        for category, wordings in file.categories.items()
        for key, wording in wordings.items()
    ]
    if not groups:
        raise SetupError(f"{path} contains no group of needles; write category: {{key: {{name, question, ...}}}}")
    broken = next(_broken(groups), None)
    if broken:
        raise SetupError(f"{path}: {broken}")
    return groups


def _problem(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"][1:])
    return f"{where}: {error['msg']}" if where else f"{error['msg']}; wanted category -> key -> wording"


def _broken(groups: Sequence[Group]) -> Iterator[str]:
    """The errors in the groups, one line each."""
    for group in groups:
        yield from (f"group {group.id}: {what}" for what in _problems(group))
    for one, other in combinations(groups, 2):
        a, b = one.wording, other.wording
        if contains(a.name, b.name) or contains(b.name, a.name):
            yield f"groups {one.id} and {other.id} have characters with the same name: {a.name}, {b.name}"
        if normalise(a.question) == normalise(b.question):
            yield f"groups {one.id} and {other.id} ask the same: {a.question}"


def _problems(group: Group) -> Iterator[str]:
    wording = group.wording
    if contains(wording.name, wording.question):
        yield f"the question names {wording.name}, which is its answer"
    for needle, order, text in group.needles:
        which = f"the {needle} {order} needle"
        if not contains(wording.name, text):
            yield f"{which} does not contain the name {wording.name}"
        elif (text.index(wording.name) < len(text) / 2) != (order == "default"):
            yield f"{which} has the name in the wrong half: first for default, second for inverted"
        shared = shared_words(wording.question, text)
        if needle == "one_hop" and shared:
            yield f"{which} shares a content word with the question: {_listed(shared)}"
        if needle == "literal" and not shared:
            yield f"{which} shares no content word with the question"


def _listed(pairs: Sequence[tuple[str, str]]) -> str:
    return ", ".join(a if a == b else f"{a}/{b}" for a, b in pairs)
