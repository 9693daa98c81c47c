"""`training.json`: what a checkpoint was trained to do, and everything that its weights depend on."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from builders.errors import SetupError
from builders.files import write_json

FILE = "training.json"


class Named(BaseModel, frozen=True, extra="forbid"):
    """The model that training began with, and what pins it: a commit of the Hub, or a digest of its files."""

    name: str
    revision: str


class Data(BaseModel, frozen=True, extra="forbid"):
    """The dataset that was learned from."""

    name: str
    version: str
    manifest_sha256: str
    configs: list[str]
    split: str = "train"
    validation_split: str = "validation"


class Training(BaseModel, frozen=True, extra="forbid"):
    """A checkpoint's record; `variant` names the method that it is for, and `marks` says whether it writes marks.

    `samples`: by task, how many were learned from, and how many were left out for each reason; `validation`: the same
    of those that the best weights were chosen by. `settings` holds every other choice.
    """

    format: Literal["icr2-training/1"] = "icr2-training/1"
    variant: str
    marks: bool
    base: Named
    dataset: Data
    prompt_version: str
    samples: dict[str, dict[str, int]]
    validation: dict[str, dict[str, int]] = {}
    seed: str
    settings: dict[str, Any]
    versions: dict[str, str]

    @property
    def chosen(self) -> str:
        """Which step's weights these are, in words."""
        best, taken = self.settings["best_step"], self.settings["steps_taken"]
        return f"step {best} of {taken}, which had the lowest loss on validation"


def read_training(folder: Path) -> Training | None:
    """The record in a checkpoint's folder, None if there is none; SetupError if it is invalid."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        return Training.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "file"
        raise SetupError(
            f"{path} is no record of a training ({where}: {first['msg']}); train the model again"
        ) from None


def write_training(folder: Path, training: Training) -> None:
    """Writes the record into a checkpoint's folder."""
    write_json(folder / FILE, training.model_dump())
