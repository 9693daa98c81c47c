"""Kinds of made datasets, by the name that a recipe's `kind` gives them."""

from builders.errors import SetupError
from builders.synthetic import controlled, frames, given, needles
from builders.synthetic.base import Kind

KINDS: dict[str, Kind] = {
    "needles": needles.KIND,
    "controlled": controlled.KIND,
    "frames": frames.KIND,
    "given": given.KIND,
}


def kind_of(name: object) -> Kind:
    """The kind of a name; SetupError where there is none."""
    if not isinstance(name, str) or name not in KINDS:
        raise SetupError(f"kind {name!r} is unknown; there are {', '.join(KINDS)}")
    return KINDS[name]
