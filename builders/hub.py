"""Files of the Hub, by an id with an optional revision."""

from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb

from builders.errors import SetupError, shortened, shown


def from_hub(what: str, spec: str, local: str, get: Callable[[str, str | None], str]) -> Path:
    """The path where `get(repository, revision)` put the files of `ORG/NAME[@REVISION]`.

    SetupError where the Hub does not serve them; it names `what` was wanted and what a `local` one would be.
    """
    from huggingface_hub.errors import HFValidationError

    repository, _, revision = spec.partition("@")
    try:
        return Path(get(repository, revision or None))
    except (OSError, ValueError, HFValidationError) as error:
        reason = shortened(str(error).strip().split("\n")[0]) or type(error).__name__
    except Exception as error:
        if not misread(error):
            raise
        reason = f"its reply is not what its client expects ({type(error).__name__}: {shown(str(error))})"
    raise SetupError(f"{what} {spec!r} is not a {local}, and the Hub did not serve it: {reason}") from None


def misread(error: BaseException) -> bool:
    """Whether an error comes from the Hub's client reading a reply, in whatever it called, not from our code."""
    root = Path(__file__).parents[1]
    ours = [root / package for package in ("builders", "dataset_cards", "eval_harness", "validation")]
    for frame in reversed(extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if any(map(path.is_relative_to, ours)):
            return False
        if "huggingface_hub" in path.parts:
            return True
    return False
