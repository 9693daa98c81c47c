"""Assembles finished files into a dataset folder with its manifest and a card, by one rename."""

import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from filecmp import cmp
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow.parquet as pq

from builders.card import card
from builders.config import AnyRecipe, Recipe, digest_of
from builders.errors import SetupError
from builders.files import replacing, source_name, write_json
from builders.manifest import FORMAT, read_manifest
from builders.place import check_files, manifest_values
from builders.retrieve import RETRIEVERS
from builders.retrieve.base import about
from builders.schema import Split
from builders.sources import gold_of
from builders.stages.files import file_name
from builders.tasks import TaskSpec
from builders.tokens import token_counter
from builders.work import Build, Input, Shard


class _Part(NamedTuple):
    """A file of the dataset: its config, split and path, and the finished file in the work folder."""

    config: str
    split: Split
    path: str
    source: Path


def assemble(build: Build[Any], out: Path) -> bool:
    """Writes the dataset folder `out` of a finished build; False if exactly that dataset is there already."""
    parts = [_part(build, shard) for shard in build.shards("write")]
    if not parts:
        raise SetupError("the build has no row, so there is no dataset to write")
    manifest = _manifest(build, parts)
    if _is_there(out, manifest, parts):
        return False
    check_files(out)  # again: the build took its time
    with replacing(out) as folder:
        for part in parts:
            _place(part.source, folder / part.path)
        write_json(folder / "manifest.json", manifest, sort_keys=False)  # configs keep the recipe's order
        (folder / "README.md").write_text(card(read_manifest(folder)), encoding="utf-8")
    return True


def _part(build: Build[Any], shard: Shard) -> _Part:
    split = cast(Split, shard.split)
    path = f"{shard.config}/{file_name(split, shard.part, shard.parts)}"
    return _Part(shard.config, split, path, build.path("write", shard.name))


def _is_there(out: Path, manifest: Mapping[str, Any], parts: Sequence[_Part]) -> bool:
    """Whether the folder has this manifest, a card, and every file with the same bytes."""
    try:
        same = manifest_values(out) == manifest and (out / "README.md").is_file()
        return same and all(_same(out / part.path, part.source) for part in parts)
    except OSError:
        return False


def _same(path: Path, source: Path) -> bool:
    return path.samefile(source) or cmp(path, source, shallow=False)


def _place(path: Path, target: Path) -> Path:
    """Links a finished file into the dataset folder, or copies it where linking fails."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)
    return target


def _described(configs: Iterable[str], parts: Sequence[_Part]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Path, rows, bytes and sha256 of the files of each config and split."""
    described: dict[str, dict[str, list[dict[str, Any]]]] = {config: {} for config in configs}
    for part in parts:
        described[part.config].setdefault(part.split, []).append(_description(part))
    return described


def _description(part: _Part) -> dict[str, Any]:
    with part.source.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    rows = pq.read_metadata(part.source).num_rows
    return {"path": part.path, "rows": rows, "bytes": part.source.stat().st_size, "sha256": digest}


def _manifest(build: Build[Any], parts: Sequence[_Part]) -> dict[str, Any]:
    recipe, inputs = build.recipe, build.inputs
    files = _described(recipe.configs, parts)
    tasks = recipe.tasks_of({place: given.path for place, given in inputs.items()})
    return {
        "format": FORMAT,
        "name": recipe.name,
        "version": recipe.version,
        "language": recipe.language,
        "tasks": {task.name: _task(task) for task in tasks},
        "configs": {name: {**about._asdict(), "files": files[name]} for name, about in recipe.configs.items()},
        "recipe": _recorded(recipe),
        "recipe_digest": recipe_digest(build),
        "inputs": {place: _input(given) for place, given in inputs.items()},
        "tokenizer": {"name": recipe.tokenizer, "sha256": token_counter(recipe.tokenizer).sha256},
        "retrievers": _retrievers(build) if "retrieve" in build.digests else {},
        "counts": {stage: counts for stage in build.digests if (counts := build.counts(stage))},
        "written_with": {"pyarrow": version("pyarrow")},
    }


def recipe_digest(build: Build[Any]) -> str:
    """The digest of a recipe and its inputs, by which a dataset says what it was built from."""
    digests = {place: given.sha256 for place, given in build.inputs.items()}
    return digest_of({"recipe": _recorded(build.recipe), "inputs": digests})


def _recorded(recipe: AnyRecipe) -> dict[str, Any]:
    """The recipe as a manifest has it: portable, and with what its tasks leave to their sources."""
    recorded = recipe.portable()
    if isinstance(recipe, Recipe):
        for name, task in recipe.tasks.items():
            recorded["tasks"][name]["gold"] = gold_of(task)
    return recorded


def _task(task: TaskSpec) -> dict[str, Any]:
    return {"kind": task.kind, "labels": dict(task.labels), "scorer": task.scored_by, "source": task.source}


def _input(given: Input) -> dict[str, Any]:
    source = given.source
    about = {"file": source_name(source.path or ""), "rows": source.rows, "licence": source.licence}
    return {"sha256": given.sha256, **{key: value for key, value in about.items() if value}}


def _retrievers(build: Build[Recipe]) -> dict[str, Any]:
    """What each retriever is, what its scores depend on, and the digest of its run."""
    described = {}
    for shard in build.shards("retrieve"):
        name = shard.retriever
        run = {"run_sha256": sha256(build.path("retrieve", shard.name).read_bytes()).hexdigest()}
        identity = build.path("search_index", name) / "identity.json" if not build.recipe.runs else None
        spec = build.recipe.retrievers.get(name)
        described[name] = {
            **(about(RETRIEVERS[spec.kind]) if spec else {}),
            **run,
            **(json.loads(identity.read_text()) if identity else {"from": "runs"}),
        }
    return described
