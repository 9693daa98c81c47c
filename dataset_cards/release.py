"""The release of a dataset folder, checked before anything is sent."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import yaml
from rich.console import Console
from rich.progress import track

from builders.errors import SetupError
from builders.manifest import Manifest, read_manifest
from dataset_cards.front_matter import head_of
from validation.checks import CHECKS

VERSION = re.compile(r"\d+\.\d+\.\d+")
BESIDE = ("validation.json", "statistics.json", "manifest.json")
OPTIONAL = ("croissant.json",)


Configs = dict[str, dict[str, list[str]]]  # config -> split -> paths


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
    _check_statistics(folder, manifest.sha256)
    configs: Configs = {
        name: {split: [file.path for file in files] for split, files in config.files.items()}
        for name, config in manifest.configs.items()
    }
    try:
        card = (folder / "README.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SetupError(f"{folder}/README.md is missing; run: icr2 card {folder}") from None
    _check_card(folder, card, configs)
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
    validation = _read_json(folder / "validation.json", digest, again)
    if validation.get("passed") is not True:
        checks = [check for check in validation.get("checks", []) if check.get("severity") == "error"]
        failed = [check["name"] for check in checks if check.get("status") == "failed"]
        raise SetupError(
            f"{folder} did not validate ({', '.join(failed) or 'no check'} failed); fix it and run: {again}"
        )
    if unknown := set(CHECKS) - {check.get("name") for check in validation.get("checks", [])}:
        raise SetupError(
            f"{folder}/validation.json comes from an older suite, without {', '.join(sorted(unknown))}; run: {again}"
        )
    if validation.get("complete") is not True:
        raise SetupError(f"{folder}/validation.json skips checks or configs; run all of them: {again}")


def _check_statistics(folder: Path, digest: str) -> None:
    """SetupError where the statistics, and so the card, belong to another manifest or validation."""
    again = f"icr2 card {folder}"
    statistics = _read_json(folder / "statistics.json", digest, again)
    validation = hashlib.sha256((folder / "validation.json").read_bytes()).hexdigest()
    if statistics.get("validation_sha256") != validation:
        raise SetupError(f"{folder}/README.md shows another validation than validation.json; run: {again}")


def _read_json(path: Path, digest: str, again: str) -> dict[str, Any]:
    """The values of a file tied to a manifest's digest; SetupError if it is missing, broken or of another one."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SetupError(f"{path} is missing; run: {again}") from None
    except ValueError as error:
        raise SetupError(f"{path} is not JSON ({error}); run: {again}") from None
    if not isinstance(value, dict):
        raise SetupError(f"{path} is not an object; run: {again}")
    if value.get("manifest_sha256") != digest:
        raise SetupError(f"{path} belongs to another manifest; run: {again}")
    return value


def _check_card(folder: Path, card: str, configs: Configs) -> None:
    """SetupError for a card whose YAML does not list each config once with the paths of the manifest's files."""
    again = f"run: icr2 card {folder}"
    try:
        listed = head_of(card).get("configs") or []
    except yaml.YAMLError as error:
        raise SetupError(
            f"{folder}/README.md: its YAML does not parse ({' '.join(str(error).split())}); {again}"
        ) from None
    found: Configs = {}
    for config in listed:
        name = config.get("config_name")
        if name in found:
            raise SetupError(f"{folder}/README.md lists config {name} twice, and only the last would load; {again}")
        if "data_dir" in config:
            raise SetupError(f"{folder}/README.md gives config {name} a data_dir, which the Hub ignores; {again}")
        found[name] = _listed_files(config)
    if found != configs:
        wrong = sorted(name for name in found.keys() | configs if found.get(name) != configs.get(name))
        raise SetupError(
            f"{folder}/README.md does not list the manifest's files for {', '.join(map(str, wrong))}; {again}"
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
