"""Kinds of synthetic datasets, each with its pipeline, by the name that a recipe's `kind` gives them."""

from builders.engine import Pipeline
from builders.errors import SetupError
from builders.synthetic import controlled, frames, given, loft, needles

KINDS: dict[str, Pipeline] = {
    "needles": needles.KIND,
    "controlled": controlled.KIND,
    "frames": frames.KIND,
    "given": given.KIND,
    "loft": loft.KIND,
}


def kind_of(name: object) -> Pipeline:
    """The pipeline of a kind; SetupError where there is none of that name."""
    if not isinstance(name, str) or name not in KINDS:
        raise SetupError(f"kind {name!r} is unknown; there are {', '.join(KINDS)}")
    return KINDS[name]
