"""Assembles finished files into a dataset folder with its manifest and a card, by one rename."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq

from builders.card import card
from builders.config import Recipe, digest_of
from builders.errors import SetupError
from builders.files import remove, replacing, source_name, write_json
from builders.manifest import FORMAT, read_manifest
from builders.retrieve import RETRIEVERS
from builders.retrieve.base import about
from builders.schema import Split
from builders.stages.files import file_name
from builders.tasks import TaskSpec
from builders.tokens import token_counter
from builders.work import Build, Input

Configs = Mapping[str, dict[str, list[Path]]]  # config -> split -> files, in order


def assemble(build: Build[Any], out: Path) -> None:
    """Writes the dataset folder `out` of a finished build."""
    with _new_dataset(out) as folder:
        configs: Configs = {config: {} for config in build.recipe.configs}
        for shard in build.shards("write"):
            config, split = shard.config, cast(Split, shard.split)
            path = folder / config / file_name(split, shard.part, shard.parts)
            configs[config].setdefault(split, []).append(_place(build.path("write", shard.name), path))
        manifest = _manifest(build, _described(configs, folder))
        write_json(folder / "manifest.json", manifest, sort_keys=False)  # configs keep the recipe's order
        (folder / "README.md").write_text(card(read_manifest(folder)), encoding="utf-8")


def check_place(out: Path) -> None:
    """SetupError where a folder is in the place of the dataset and is none itself."""
    if out.exists() and not (out / "manifest.json").is_file():
        raise SetupError(f"{out} exists and is not a dataset (it has no manifest.json); choose another --out")


@contextmanager
def _new_dataset(out: Path) -> Iterator[Path]:
    """A folder to fill, renamed to `out` when complete. A folder that is not a dataset is never replaced."""
    check_place(out)
    for leftover in out.parent.glob(f".{out.name}.*.partial"):  # left by a run that was killed here
        remove(leftover)
    with replacing(out) as partial:
        partial.mkdir()
        yield partial


def _place(path: Path, target: Path) -> Path:
    """Links a finished file into the dataset folder, or copies it where linking fails."""
    target.parent.mkdir(exist_ok=True)
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)
    return target


def _described(configs: Configs, folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Path, rows, bytes and sha256 of the files of each config and split."""
    return {
        config: {split: [_description(path, folder) for path in paths] for split, paths in splits.items()}
        for config, splits in configs.items()
    }


def _description(path: Path, folder: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    rows = pq.read_metadata(path).num_rows
    return {
        "path": path.relative_to(folder).as_posix(),
        "rows": rows,
        "bytes": path.stat().st_size,
        "sha256": digest,
    }


def _manifest(build: Build[Any], files: Mapping[str, Any]) -> dict[str, Any]:
    recipe, inputs = build.recipe, build.inputs
    portable = recipe.portable()
    tasks = recipe.tasks_of({place: given.path for place, given in inputs.items()})
    digests = {place: given.sha256 for place, given in inputs.items()}
    return {
        "format": FORMAT,
        "name": recipe.name,
        "version": recipe.version,
        "language": recipe.language,
        "tasks": {task.name: _task(task) for task in tasks},
        "configs": {name: {**about._asdict(), "files": files[name]} for name, about in recipe.configs.items()},
        "recipe": portable,
        "recipe_digest": digest_of({"recipe": portable, "inputs": digests}),
        "inputs": {place: _input(given) for place, given in inputs.items()},
        "tokenizer": {"name": recipe.tokenizer, "sha256": token_counter(recipe.tokenizer).sha256},
        "retrievers": _retrievers(build) if "retrieve" in build.digests else {},
        "counts": {stage: counts for stage in build.digests if (counts := build.counts(stage))},
        "written_with": {"pyarrow": version("pyarrow")},
    }


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
