"""The release of a dataset folder, checked before anything is sent."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa
from pydantic import Field
from rich.console import Console
from rich.progress import track

from builders.card import config_entry
from builders.errors import SetupError, shown
from builders.manifest import Manifest, read_manifest
from builders.records import Count, Facts, Name, read_object
from builders.typed import typed
from dataset_cards.front_matter import entries, head_of
from dataset_cards.head import info_of
from validation.checks import CHECKS
from validation.reading import Validation, read_validation

VERSION = re.compile(r"\d+\.\d+\.\d+")
BESIDE = ("validation.json", "statistics.json", "manifest.json")
OPTIONAL = ("croissant.json",)


Configs = dict[str, dict[str, list[str]]]  # config -> split -> paths


class _Sizes(Facts):
    bytes: Count
    bytes_in_memory: Count


class Statistics(Facts):
    """What a release reads of statistics.json."""

    format: Literal["icr2-statistics/1"]
    manifest_sha256: str
    validation_sha256: str | None
    configs: dict[Name, dict[str, _Sizes]] = Field(default={})


class Content(NamedTuple):
    """The bytes of one file to publish: a path, or the bytes themselves."""

    source: Path | bytes
    size: int
    sha256: str

    def blob_id(self) -> str:
        """The git object id, by which the Hub identifies a small file."""
        data = self.source if isinstance(self.source, bytes) else self.source.read_bytes()
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class Release(NamedTuple):
    """A checked dataset: name, version, its files by their path in the repository, and its card."""

    name: str
    version: str
    configs: Configs
    files: dict[str, Content]  # without README.md
    card: str
    schema: pa.Schema  # of its rows

    @property
    def tag(self) -> str:
        """The tag of this version on the Hub."""
        return f"v{self.version}"


def content_of(data: bytes) -> Content:
    """Bytes as the content of a file."""
    return Content(data, len(data), hashlib.sha256(data).hexdigest())


def checked_release(folder: Path, version: str | None, console: Console) -> Release:
    """The release of a folder, with every file hashed again.

    SetupError where a part is missing, was changed after validation, does not belong to the manifest, or would not
    load from the Hub; or where `version` is not the manifest's.
    """
    manifest = read_manifest(folder)
    _check_version(manifest, version)
    _check_validation(folder, manifest.sha256)
    statistics = _statistics(folder, manifest.sha256)
    configs: Configs = {
        name: {split: [file.path for file in files] for split, files in config.files.items()}
        for name, config in manifest.configs.items()
    }
    try:
        card = (folder / "README.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SetupError(f"{folder}/README.md is missing; run: icr2 card {folder}") from None
    except UnicodeDecodeError:
        raise SetupError(f"{folder}/README.md is not UTF-8; run: icr2 card {folder}") from None
    _check_card(folder, card, configs, manifest, statistics)
    files = dict(_hashed(folder, manifest, console))
    files |= {path: content_of((folder / path).read_bytes()) for path in _beside(folder)}
    return Release(manifest.name, manifest.version, configs, files, card, manifest.schema)


def _check_version(manifest: Manifest, version: str | None) -> None:
    own = manifest.version
    if not VERSION.fullmatch(own):
        raise SetupError(f"the manifest's version is {own!r}; set one such as 1.0.0 in the recipe and build again")
    if version is not None and version.removeprefix("v") != own:
        raise SetupError(f"--version {version}: the dataset is {own}; set the version in the recipe and build again")


def _check_validation(folder: Path, digest: str) -> None:
    again = f"icr2 validate {folder}"
    validation = read_validation(folder, digest, Validation)
    failed = [check.name for check in validation.checks if (check.severity, check.status) == ("error", "failed")]
    if failed or not validation.passed:
        raise SetupError(
            f"{folder} did not validate ({', '.join(failed) or 'no check'} failed); fix it and run: {again}"
        )
    if unknown := set(CHECKS) - {check.name for check in validation.checks}:
        raise SetupError(
            f"{folder}/validation.json comes from an older suite, without {', '.join(sorted(unknown))}; run: {again}"
        )
    if not validation.complete:
        raise SetupError(f"{folder}/validation.json skips checks or configs; run all of them: {again}")


def _statistics(folder: Path, digest: str) -> Statistics:
    """The statistics; SetupError where they, and so the card, belong to another manifest or validation."""
    path, again = folder / "statistics.json", f"run: icr2 card {folder}"
    statistics = typed(read_object(path, again)[1], Statistics, path, again)
    if statistics.manifest_sha256 != digest:
        raise SetupError(f"{path} belongs to another manifest; {again}")
    validation = hashlib.sha256((folder / "validation.json").read_bytes()).hexdigest()
    if statistics.validation_sha256 != validation:
        raise SetupError(f"{folder}/README.md shows another validation than validation.json; {again}")
    return statistics


def _check_card(folder: Path, card: str, configs: Configs, manifest: Manifest, statistics: Statistics) -> None:
    """SetupError for a card whose YAML does not list each config once, with the manifest's files and their facts."""
    again = f"run: icr2 card {folder}"
    head = head_of(card, f"{folder}/README.md", again)
    found: Configs = {}
    for config in head.get("configs") or []:
        name = config["config_name"]
        if name in found:
            raise SetupError(f"{folder}/README.md lists config {name} twice, and only the last would load; {again}")
        if "data_dir" in config:
            raise SetupError(f"{folder}/README.md gives config {name} a data_dir, which the Hub ignores; {again}")
        found[name] = _listed_files(config)
    if found != configs:
        wrong = sorted(name for name in found.keys() | configs if found.get(name) != configs.get(name))
        raise SetupError(f"{folder}/README.md does not list the manifest's files for {', '.join(wrong)}; {again}")
    for config in head["configs"]:
        wanted = config_entry(config["config_name"], manifest.configs[config["config_name"]])
        _compare(f"{folder}/README.md: configs", wanted | {"data_files": config["data_files"]}, config, again)
    if "dataset_info" in head:
        _check_info(folder, entries(head["dataset_info"]), manifest, statistics)


def _check_info(folder: Path, found: list[dict[str, Any]], manifest: Manifest, statistics: Statistics) -> None:
    """SetupError where `dataset_info`, which `load_dataset` holds the files against, is not what they have."""
    where, again = f"{folder}/README.md: dataset_info", f"run: icr2 card {folder}"
    sizes = {
        name: {split: size.model_dump() for split, size in statistics.configs.get(name, {}).items()}
        for name in manifest.configs
    }
    if any(sizes[name].keys() != config.files.keys() for name, config in manifest.configs.items()):
        raise SetupError(f"{folder}/statistics.json lacks the sizes of a config; {again}")
    wanted = {info["config_name"]: info for info in info_of(manifest, sizes, manifest.schema)}
    names = [info.get("config_name", "default") for info in found]
    if sorted(names) != sorted(wanted):
        raise SetupError(f"{where}: found {shown(names)}, wanted one of each config; {again}")
    for name, info in zip(names, found, strict=True):
        _compare(where, wanted[name], info, again)


def _compare(where: str, wanted: dict[str, Any], found: dict[str, Any], again: str) -> None:
    """SetupError that names the first field of a config's entry that differs."""
    for key in [*wanted, *sorted(found.keys() - wanted.keys())]:
        if found.get(key) != wanted.get(key):
            raise SetupError(
                f"{where}: {key} of {wanted['config_name']}: found {shown(found.get(key))}, "
                f"wanted {shown(wanted.get(key))}; {again}"
            )


def _listed_files(config: dict[str, Any]) -> dict[str, list[str]]:
    entries = config.get("data_files")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return {}
    paths = {entry.get("split"): entry.get("path") for entry in entries}
    return {str(split): [path] if isinstance(path, str) else path for split, path in paths.items()}


def _hashed(folder: Path, manifest: Manifest, console: Console) -> Iterator[tuple[str, Content]]:
    files = [file for config in manifest.configs.values() for files in config.files.values() for file in files]
    for file in track(files, "checking files", console=console, transient=True):
        path = manifest.path_of(folder, file)
        if not path.is_file():
            raise SetupError(f"{path} is missing, and the manifest lists it; build the dataset again")
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        if digest != file.sha256:
            raise SetupError(f"{path} was changed after the build (its sha256 does not match); build it again")
        yield file.path, Content(path, path.stat().st_size, digest)


def _beside(folder: Path) -> list[str]:
    optional = [name for name in OPTIONAL if (folder / name).is_file()]
    figures = sorted(path.relative_to(folder).as_posix() for path in (folder / "figures").glob("*.png"))
    return [*BESIDE, *optional, *figures]
