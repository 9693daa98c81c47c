"""The commands that are killed: a build, a run of a model, a training and a publish, each with what it must leave."""

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.builders.tiny import write_tiny_kilt
from tests.eval_harness.conftest import instance, save_model, write_config
from tests.eval_harness.models.chat_server import KEY, chat_server
from tests.eval_harness.train.conftest import learnable, write_dataset
from tests.fire.kills import Job, Maker, State
from tests.fire_files import good_dataset
from tests.hub.clients import TOKEN, TOKENS, environment
from tests.hub.server import loopback_hub
from tests.manifests import write_manifest_2

SMALL = ["--set", "lengths=[1k]", "--set", "ratios=[0,100]", "--set", "loft=[]"]
SHORT = ["--steps", "6", "--epochs", "6", "--eval-every", "2", "--accumulate", "1", "--dtype", "float32"]
METHODS = ["--method", "closed_book", "--method", "vanilla_rag"]


def _files(folder: Path, *patterns: str) -> dict[str, bytes]:
    found = [path for pattern in patterns for path in folder.rglob(pattern) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _lines(path: Path) -> list[dict[str, object]]:
    """The lines of a file of JSON lines, without their time."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{key: value for key, value in line.items() if key != "latency_s"} for line in lines]


@contextmanager
def building(folder: Path) -> Iterator[Job]:
    """A build with two workers; beside the dataset nothing may be left but the work folder."""
    recipe, out = write_tiny_kilt(folder / "kilt"), folder / "out"

    def left() -> State:
        return {**_files(out, "*"), "beside": _names(folder)}

    yield Job(["build", str(recipe), "--out", str(out), "--workers", "2", *SMALL], left)


@contextmanager
def running(folder: Path) -> Iterator[Job]:
    """A run of two methods on 30 questions by a server; every answer depends on its prompt."""
    data, out = folder / "data", folder / "run"
    asked = [instance(f"nq-{n}", "nq", f"question {n}?", [str(n)], [0], [f"text {n}", "more"]) for n in range(30)]
    write_config(data, "1k_p0", asked)
    write_manifest_2(data, "tiny")

    def left() -> State:
        return {"results": _lines(out / "results.jsonl"), "run": _names(out), "beside": _names(folder)}

    with chat_server(lambda prompt: str(zlib.crc32(prompt.encode()))) as server:
        model = ["--model", "openai:tiny", "--base-url", server.url, "--tokenizer", "smollm2"]
        arguments = ["eval", str(data), "--config", "1k_p0", *METHODS, *model, "--batch-size", "4", "--out", str(out)]
        yield Job(arguments, left, {"OPENAI_API_KEY": KEY})


@contextmanager
def training(folder: Path) -> Iterator[Job]:
    """A training of a random model with a checkpoint every second step."""
    data, base, out = folder / "data", save_model(folder / "base"), folder / "tuned"
    write_dataset(data, learnable(), learnable())

    def left() -> State:
        losses = _lines(out / "train_log.jsonl")
        return {**_files(out, "*.safetensors"), "losses": losses, "out": _names(out), "beside": _names(folder)}

    arguments = ["train", "sft", str(data), "--variant", "cci", "--config", "1k_p0", "--model", str(base), *SHORT]
    yield Job([*arguments, "--out", str(out)], left)


@contextmanager
def publishing(folder: Path) -> Iterator[Job]:
    """A publish to a Hub on loopback: one commit after the first, one tag, and the token in no file."""
    data, home = good_dataset(folder / "data"), folder / "home"
    with loopback_hub(TOKENS) as hub:

        def left() -> State:
            repo = hub.state.repos["me/it"]
            files = {path: file.content for path, file in repo.at("main").files.items()}
            leaks = [path for path, content in _files(folder, "*").items() if TOKEN.encode() in content]
            return {**files, "commits": len(repo.commits), "tagged": repo.tags == {"v1.0.0": repo.head}, "leaks": leaks}

        yield Job(["publish", str(data), "--repo", "me/it"], left, environment(hub.url, home, HF_HUB_OFFLINE="0"))


JOBS: dict[str, Maker] = {"build": building, "eval": running, "train": training, "publish": publishing}
