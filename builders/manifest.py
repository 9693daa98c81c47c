"""Puts finished files together as a dataset folder with its manifest and a card, by one rename."""

import json
import os
import shutil
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from builders.card import card
from builders.config import Source, digest_of
from builders.errors import SetupError
from builders.tokens import token_counter
from builders.work import Build, mark_of, remove, replacing, write_json

FORMAT = "icr2-manifest/1"


def assemble(build: Build, out: Path, inputs: Mapping[str, str]) -> dict[str, Any]:
    """Makes the dataset folder `out` and returns its manifest; a folder that is no dataset is never replaced.

    `inputs` are the digests of the input files by their place in the recipe.
    """
    if out.exists() and not (out / "manifest.json").is_file():
        raise SetupError(f"{out} is there and is no dataset (it has no manifest.json); choose another --out")
    for leftover in out.parent.glob(f".{out.name}.*.partial"):  # of a run that was killed just here
        remove(leftover)
    with replacing(out) as partial:
        partial.mkdir()
        files = {shard: _place(build.path("write", shard), partial) for shard in build.shards("write")}
        manifest = _manifest(build, files, inputs)
        write_json(partial / "manifest.json", manifest, sort_keys=False)  # configs stay in the recipe's order
        (partial / "README.md").write_text(card(manifest), encoding="utf-8")
    return manifest


def _place(path: Path, folder: Path) -> dict[str, Any]:
    """Links a finished file into the dataset folder (copies it where a link cannot be), and describes it."""
    config, name = path.name.split("--")
    target = folder / config / name
    target.parent.mkdir(exist_ok=True)
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)
    with path.open("rb") as file:
        digest = sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    rows = json.loads(mark_of(path).read_text())["rows"]
    return {"path": f"{config}/{name}", "rows": rows, "bytes": path.stat().st_size, "sha256": digest.hexdigest()}


def _manifest(build: Build, files: dict[str, dict[str, Any]], inputs: Mapping[str, str]) -> dict[str, Any]:
    recipe = build.recipe
    configs: dict[str, dict[str, list]] = {config: {} for config in recipe.configs}
    for shard, file in files.items():
        config, name = shard.split("--")
        configs[config].setdefault(name.split("-")[0], []).append(file)
    portable = recipe.portable()
    return {
        "format": FORMAT,
        "name": recipe.name,
        "version": recipe.version,
        "language": recipe.language,
        "recipe": portable,
        "recipe_digest": digest_of({"recipe": portable, "inputs": dict(inputs)}),
        "inputs": {place: _input(build, place, digest) for place, digest in inputs.items()},
        "tokenizer": {"name": recipe.tokenizer, "sha256": token_counter(recipe.tokenizer).sha256},
        "retrievers": _retrievers(build),
        "configs": configs,
        "counts": {stage: counts for stage in build.digests if (counts := build.counts(stage))},
        "written_with": {"pyarrow": version("pyarrow")},
    }


def _input(build: Build, place: str, digest: str) -> dict[str, Any]:
    source = _source_at(build, place)
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
    """Each retriever's settings, what its scores depend on, and the digest of its run."""
    described = {}
    for shard in build.shards("retrieve"):
        name = shard.removesuffix(".parquet")
        run = {"run_sha256": sha256(build.path("retrieve", shard).read_bytes()).hexdigest()}
        identity = build.path("search_index", name) / "identity.json" if not build.recipe.runs else None
        described[name] = {**run, **(json.loads(identity.read_text()) if identity else {"from": "runs"})}
    return described


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a dataset folder; SetupError where there is none."""
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SetupError(
            f"{folder} is no dataset: it has no manifest.json; run: icr2 build RECIPE --out {folder}"
        ) from None
    except ValueError as error:
        raise SetupError(f"{path} is not JSON ({error}); build the dataset again") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise SetupError(f"{path} is not of the format {FORMAT}; build the dataset again")
    return manifest
