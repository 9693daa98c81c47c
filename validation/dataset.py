"""What the checks read: a dataset folder's manifest, its files, and what each config promises."""

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from pydantic import ValidationError

from builders.config import AnyRecipe, tokens_of
from builders.errors import SetupError
from builders.load_recipe import recipe_of

FORMAT = "icr2-manifest/1"
_LENGTH = "[0-9]+[km]?"
_CONFIG = re.compile(f"(?P<length>{_LENGTH})_p(?P<ratio>[0-9]+)|(?P<family>[a-z]+)_(?P<size>{_LENGTH}|full)")
_NESTED = ("", "controlled", "given", "frames")  # families whose shorter contexts are parts of the longer ones


class File(NamedTuple):
    """A Parquet file that the manifest lists."""

    config: str
    split: str
    path: str
    rows: int
    bytes: int
    sha256: str


class Promise(NamedTuple):
    """What a config's name and recipe say of its rows.

    `family` is empty for ICR² configs, `loft` for LOFT-style ones, whose contexts are shared, else the recipe's kind.
    A config named `full` has no length of its own.
    """

    family: str
    length: str
    ratio: int | None  # of ICR² configs
    budget: int | None  # tokens of a rendered prompt, at most
    enough: float | None  # share of the budget below which a row must be flagged
    nested: bool


class Dataset(NamedTuple):
    """A dataset folder, or the part of it that was asked for."""

    folder: Path
    manifest: dict[str, Any]
    manifest_sha256: str
    recipe: AnyRecipe
    configs: list[str]
    files: list[File]
    promises: dict[str, Promise]
    whole: bool  # no config was left out

    def groups(self) -> list[tuple[str, str]]:
        """Each config and split that the manifest lists, of those asked for."""
        return [(config, split) for config in self.configs for split in self.manifest["configs"][config]]


def read_dataset(folder: Path, configs: Sequence[str] = ()) -> Dataset:
    """The dataset of a folder, all configs or those named; SetupError where it is none."""
    path = folder / "manifest.json"
    if not path.is_file():
        raise SetupError(f"{folder} is no dataset: it has no manifest.json; run: icr2 build RECIPE --out {folder}")
    try:
        content = path.read_bytes()
        manifest = json.loads(content)
        files = [_file(config, split, entry) for config, split, entry in _entries(manifest)]
        recipe = recipe_of(manifest["recipe"])
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise SetupError(f"{path} is no manifest of the format {FORMAT} ({reason}); build the dataset again") from None
    unknown = sorted(set(configs) - set(manifest["configs"]))
    if unknown:
        raise SetupError(f"no config {', '.join(unknown)} in {folder}; there are {', '.join(manifest['configs'])}")
    chosen = [config for config in manifest["configs"] if not configs or config in configs]
    return Dataset(
        folder,
        manifest,
        sha256(content).hexdigest(),
        recipe,
        chosen,
        [file for file in files if file.config in chosen],
        {config: promise for config in chosen if (promise := _promise(recipe, config))},
        chosen == list(manifest["configs"]),
    )


def _entries(manifest: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    if manifest["format"] != FORMAT:
        raise ValueError(f"format is {manifest['format']!r}")
    return [
        (config, split, entry)
        for config, splits in manifest["configs"].items()
        for split, entries in splits.items()
        for entry in entries
    ]


def _file(config: str, split: str, entry: dict[str, Any]) -> File:
    path = PurePosixPath(entry["path"])
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{entry['path']!r} leads out of the folder")
    return File(config, split, str(path), int(entry["rows"]), int(entry["bytes"]), str(entry["sha256"]))


def _promise(recipe: AnyRecipe, config: str) -> Promise | None:
    match = _CONFIG.fullmatch(config)
    if not match:
        return None
    family, length = match["family"] or "", match["length"] or match["size"]
    if family not in ("", "loft") and config not in recipe.configs:
        return None
    if length == "full":
        return Promise(family, length, None, None, None, family in _NESTED)
    ratio = int(match["ratio"]) if match["ratio"] else None
    enough = 0.75 if tokens_of(length) < 2048 else 0.9
    return Promise(family, length, ratio, recipe.budget(length), enough, family in _NESTED)
