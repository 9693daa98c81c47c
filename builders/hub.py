"""Files of the Hub, by an id with an optional revision."""

from collections.abc import Callable
from pathlib import Path

from builders.errors import SetupError


def from_hub(what: str, spec: str, local: str, get: Callable[[str, str | None], str]) -> Path:
    """The path where `get(repository, revision)` put the files of `ORG/NAME[@REVISION]`.

    SetupError where the Hub does not serve them; it names `what` was wanted and what a `local` one would be.
    """
    from huggingface_hub.errors import HFValidationError

    repository, _, revision = spec.partition("@")
    try:
        return Path(get(repository, revision or None))
    except (OSError, ValueError, HFValidationError) as error:
        reason = str(error).strip().splitlines()[0]
        raise SetupError(f"{what} {spec!r} is not a {local}, and the Hub did not serve it: {reason}") from None
