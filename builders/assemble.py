"""Puts finished files together as a dataset folder with its manifest and a card, by one rename."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from builders.card import card
from builders.config import AnyRecipe, Source, digest_of
from builders.errors import SetupError
from builders.files import remove, replacing, write_json
from builders.manifest import FORMAT
from builders.retrieve import RETRIEVERS
from builders.retrieve.base import about
from builders.tasks import TaskSpec
from builders.tokens import token_counter
from builders.work import Build

Configs = Mapping[str, dict[str, list[Path]]]  # config -> split -> files, in order


def assemble(build: Build, out: Path, inputs: Mapping[str, str]) -> dict[str, Any]:
    """Makes the dataset folder `out` of a finished build and returns its manifest.

    `inputs` are the digests of the input files by their place in the recipe.
    """
    with new_dataset(out) as folder:
        configs: Configs = {config: {} for config in build.recipe.configs}
        for shard in build.shards("write"):
            config, name = shard.split("--")
            path = _place(build.path("write", shard), folder / config / name)
            configs[config].setdefault(name.split("-")[0], []).append(path)
        manifest = manifest_of(
            build.recipe,
            build.recipe.tasks_of({}),
            described(configs, folder),
            {place: (_source_at(build, place), digest) for place, digest in inputs.items()},
            {stage: counts for stage in build.digests if (counts := build.counts(stage))},
            _retrievers(build),
        )
        write_head(folder, manifest)
    return manifest


@contextmanager
def new_dataset(out: Path) -> Iterator[Path]:
    """A folder to fill; it becomes the dataset folder `out` by one rename. One that is no dataset is never replaced."""
    if out.exists() and not (out / "manifest.json").is_file():
        raise SetupError(f"{out} is there and is no dataset (it has no manifest.json); choose another --out")
    for leftover in out.parent.glob(f".{out.name}.*.partial"):  # of a run that was killed just here
        remove(leftover)
    with replacing(out) as partial:
        partial.mkdir()
        yield partial


def write_head(folder: Path, manifest: dict[str, Any]) -> None:
    """Writes the manifest and the first card of a dataset whose files are in place."""
    write_json(folder / "manifest.json", manifest, sort_keys=False)  # configs stay in the recipe's order
    (folder / "README.md").write_text(card(manifest), encoding="utf-8")


def _place(path: Path, target: Path) -> Path:
    """Links a finished file into the dataset folder, or copies it where a link cannot be."""
    target.parent.mkdir(exist_ok=True)
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)
    return target


def described(configs: Configs, folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
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


def manifest_of(
    recipe: AnyRecipe,
    tasks: Sequence[TaskSpec],
    files: Mapping[str, Mapping[str, Any]],
    inputs: Mapping[str, tuple[Source | None, str]],
    counts: Mapping[str, Mapping[str, int]],
    retrievers: Mapping[str, Any],
) -> dict[str, Any]:
    """The manifest of a dataset; `inputs` are sources with the digests of their files, by their place in the recipe."""
    portable = recipe.portable()
    digests = {place: digest for place, (_, digest) in inputs.items()}
    return {
        "format": FORMAT,
        "name": recipe.name,
        "version": recipe.version,
        "language": recipe.language,
        "tasks": {task.name: _task(task) for task in tasks},
        "configs": {name: {**about._asdict(), "files": files[name]} for name, about in recipe.configs.items()},
        "recipe": portable,
        "recipe_digest": digest_of({"recipe": portable, "inputs": digests}),
        "inputs": {place: _input(source, digest) for place, (source, digest) in inputs.items()},
        "tokenizer": {"name": recipe.tokenizer, "sha256": token_counter(recipe.tokenizer).sha256},
        "retrievers": dict(retrievers),
        "counts": {stage: dict(counted) for stage, counted in counts.items()},
        "written_with": {"pyarrow": version("pyarrow")},
    }


def _task(task: TaskSpec) -> dict[str, Any]:
    return {"kind": task.kind, "labels": dict(task.labels), "scorer": task.scored_by, "source": task.source}


def _input(source: Source | None, digest: str) -> dict[str, Any]:
    about = {"file": Path(source.path or "").name, "rows": source.rows, "licence": source.licence} if source else {}
    return {"sha256": digest, **{key: value for key, value in about.items() if value}}


def _source_at(build: Build, place: str) -> Source | None:
    match place.split("."):
        case ["knowledge"]:
            return build.recipe.knowledge
        case ["tasks", task, file]:
            return build.recipe.tasks[task].files[file]
    return None


def _retrievers(build: Build) -> dict[str, Any]:
    """What each retriever is, what its scores depend on, and the digest of its run."""
    described = {}
    for shard in build.shards("retrieve"):
        name = shard.removesuffix(".parquet")
        run = {"run_sha256": sha256(build.path("retrieve", shard).read_bytes()).hexdigest()}
        identity = build.path("search_index", name) / "identity.json" if not build.recipe.runs else None
        spec = build.recipe.retrievers.get(name)
        described[name] = {
            **(about(RETRIEVERS[spec.kind]) if spec else {}),
            **run,
            **(json.loads(identity.read_text()) if identity else {"from": "runs"}),
        }
    return described
