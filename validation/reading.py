"""Reads validation.json as typed values."""

from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, model_validator

from builders.errors import SetupError
from builders.records import Count, Facts, Label, read_value
from builders.typed import typed
from validation.report import FORMAT


class Check(Facts):
    """The outcome of a check, as far as a release depends on it."""

    name: Label
    severity: Literal["error", "warning"]
    status: Literal["passed", "failed", "skipped"]


class Described(Check):
    """The outcome of a check, as a card shows it."""

    says: str
    unit: Label
    examined: Count
    failing: Count
    rate: float = Field(ge=0, le=1)
    why: str

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        if isinstance(value, dict) and (missing := sorted(cls.model_fields.keys() - value.keys())):
            raise ValueError(f"all fields; it is a check without {', '.join(missing)}")
        return value


class Validation(Facts):
    """The result of `icr2 validate`, bound to a manifest by its digest."""

    format: Literal["icr2-validation/1"]
    manifest_sha256: str
    passed: bool
    complete: bool
    checks: list[Check]


class Shown(Validation):
    """The result with everything that a card shows."""

    checks: list[Described]  # type: ignore[assignment]  # a narrower list of a frozen record


V = TypeVar("V", bound=Validation)


def read_validation(folder: Path, manifest_sha256: str, model: type[V]) -> V:
    """The result of `icr2 validate` for the manifest of this digest; SetupError says what to run."""
    path, again = folder / "validation.json", f"run: icr2 validate {folder}"
    _, values = read_value(path, again)
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise SetupError(f"{path} does not have the format {FORMAT}; {again}")
    found = typed(values, model, path, again)
    if found.manifest_sha256 != manifest_sha256:
        raise SetupError(f"{path} belongs to another build, of another manifest; {again}")
    return found
