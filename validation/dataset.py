"""The input of the checks: a dataset folder's manifest and the files of its configs."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from builders.errors import SetupError
from builders.manifest import Config, Manifest, read_manifest

_NOT_NESTED = ("loft", "needles")  # families whose shorter contexts are not subsets of the longer ones


class File(NamedTuple):
    """A Parquet file that the manifest lists."""

    config: str
    split: str
    path: str
    rows: int
    bytes: int
    sha256: str


class Dataset(NamedTuple):
    """A dataset folder, or the requested part of it."""

    folder: Path
    manifest: Manifest
    configs: list[str]
    files: list[File]
    whole: bool  # all configs are included

    def groups(self) -> list[tuple[str, str]]:
        """Each requested config and split that the manifest lists."""
        return [(config, split) for config in self.configs for split in self.manifest.configs[config].files]


def read_dataset(folder: Path, configs: Sequence[str] = ()) -> Dataset:
    """The dataset of a folder, all configs or those named; SetupError if the folder is not a dataset."""
    manifest = read_manifest(folder)
    unknown = sorted(set(configs) - set(manifest.configs))
    if unknown:
        raise SetupError(f"no config {', '.join(unknown)} in {folder}; there are {', '.join(manifest.configs)}")
    chosen = [config for config in manifest.configs if not configs or config in configs]
    files = []
    for config in chosen:
        for split, listed in manifest.configs[config].files.items():
            for file in listed:
                manifest.path_of(folder, file)  # refuses a link out of the folder
                files.append(File(config, split, file.path, file.rows, file.bytes, file.sha256))
    return Dataset(folder, manifest, chosen, files, chosen == list(manifest.configs))


def enough(config: Config) -> float | None:
    """The share of the budget below which a row must be flagged: in a short context, a passage is a large step."""
    if config.tokens is None:
        return None
    return 0.75 if config.tokens < 2048 else 0.9


def nested(config: Config) -> bool:
    """Whether its contexts are subsets of those of the next length."""
    return config.family not in _NOT_NESTED
