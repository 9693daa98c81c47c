"""The one error that a user can mend."""


class SetupError(Exception):
    """Something the user can put right: printed as one line, without a traceback, with exit code 2.

    The message says what was found, what was wanted, and what to run next.
    """
