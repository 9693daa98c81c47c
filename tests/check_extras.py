"""Installs the core and each extra into an environment of its own and runs what it promises: `make extras`.

It takes half an hour and 4 GB of disk, so it is no test. Extras named on the command line are checked alone.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from builders.bundled import REQUIREMENTS
from builders.extras import EXTRAS, install
from tests.builders.tiny import write_tiny_kilt
from tests.imports import ROOT

PACKED = ("builders", "validation", "dataset_cards", "eval_harness")
MODEL = ("--config", "1k_p50", "--model", "smollm2")


class Environment:
    """A fresh environment with icr2 and one extra, or none; `inputs` has the tiny sources and a dataset of them."""

    def __init__(self, folder: Path, wheel: Path, extra: str, inputs: Path) -> None:
        self.folder, self.inputs = folder, inputs
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        self.pip("--constraint", str(ROOT / "constraints.txt"), f"{wheel}[{extra}]" if extra else str(wheel))
        self.dataset = shutil.copytree(inputs / "icr2", folder / "icr2")

    def pip(self, *arguments: str) -> None:
        """Installs something."""
        quiet = ("--quiet", "--disable-pip-version-check")
        command = [str(self.folder / "bin/python"), "-m", "pip", "install", *quiet, *arguments]
        subprocess.run(command, check=True, cwd=self.folder, env=_environment())

    def bundled(self) -> None:
        """Installs the small models and texts."""
        self.pip("--no-deps", "--requirement", str(REQUIREMENTS))

    def run(self, *arguments: object, code: int = 0, says: str = "") -> str:
        """Runs a command of the environment outside the repository; stops if it ends or speaks otherwise."""
        command = [str(self.folder / "bin" / str(arguments[0])), *map(str, arguments[1:])]
        done = subprocess.run(command, cwd=self.folder, env=_environment(), capture_output=True, text=True)
        said = done.stdout + done.stderr
        if done.returncode != code or says not in said or "Traceback" in said:
            raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}, wanted {code} and {says!r}\n{said}")
        return done.stdout

    def icr2(self, *arguments: object, code: int = 0, says: str = "") -> str:
        """Runs `icr2`."""
        return self.run("icr2", *arguments, code=code, says=says)

    def lacks(self, extra: str, *arguments: object) -> None:
        """Stops unless a command says that it needs an extra."""
        self.icr2(*arguments, code=2, says=install(extra))


def core(env: Environment) -> None:
    """Loads, shows, queries and validates; names the extra of everything else."""
    load = f"from datasets import load_dataset as l; print(len(l({str(env.dataset)!r}, '1k_p50')['test']))"
    assert env.run("python", "-c", load) == "9\n"
    assert "nq number" in env.icr2("show", env.dataset, "1k_p50", _first_id(env))
    env.icr2("validate", env.dataset, "--html", env.folder / "html", says="passed")
    env.icr2("--help")
    for extra in EXTRAS:
        env.icr2("doctor", says=install(extra))
    out = env.folder / "out"
    env.lacks("build", "build", env.inputs / "kilt/recipe.yaml", "--out", out, "--set", "runs=null", *_retrievers())
    env.lacks("build", "card", env.dataset)
    env.lacks("build", "figure", env.dataset, env.folder / "f.png", "--length", "1k")
    env.bundled()
    env.lacks("eval", "eval", env.dataset, *MODEL, "--method", "closed_book", "--out", out)
    env.lacks("train", "train", "sft", env.dataset, *MODEL, "--variant", "da", "--out", out)


def build(env: Environment) -> None:
    """Builds with every kind of retriever, validates, draws and describes."""
    env.bundled()
    out = env.folder / "out"
    env.icr2("build", env.inputs / "kilt/recipe.yaml", "--out", out, "--set", "runs=null", *_retrievers())
    env.icr2("validate", out)
    env.icr2("card", out)
    env.icr2("figure", out, env.folder / "f.png", "--length", "1k")


def evaluate(env: Environment) -> None:
    """Answers with a real model, with retrieval in the context, and reports."""
    env.bundled()
    out, methods = env.folder / "runs", ("--method", "closed_book", "--method", "retrieved_hybrid@2")
    env.icr2("eval", env.dataset, *MODEL, *methods, "--limit", "1", "--out", out)
    env.icr2("report", out, "--dataset", env.dataset, "--out", env.folder / "report")
    env.lacks("train", "train", "sft", env.dataset, *MODEL, "--variant", "da", "--lora", "--out", env.folder / "out")


def train(env: Environment) -> None:
    """Trains adapters for one step."""
    env.bundled()
    steps = ("--variant", "da", "--lora", "--steps", "1", "--samples", "nq=2", "--out", env.folder / "out")
    env.icr2("train", "sft", env.dataset, *MODEL, *steps)


def lm_eval(env: Environment) -> None:
    """Runs a task with a model that needs no weights."""
    tasks = env.folder / "tasks"
    env.icr2("tasks", env.dataset, "--write", tasks)
    run = ("run", "--model", "dummy", "--tasks", "tiny_1k_p50_closed_book_nq", "--limit", "1")
    env.run("lm_eval", *run, "--include_path", tasks)


CHECKS: dict[str, Callable[[Environment], None]] = {
    "": core,
    "build": build,
    "eval": evaluate,
    "train": train,
    "lm-eval": lm_eval,
}


def _environment() -> dict[str, str]:
    """Without this repository on the path, where pip would find icr2 installed."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"COLUMNS": "200"}


def _first_id(env: Environment) -> str:
    query = "SELECT min(id) FROM \"1k_p50\" WHERE task = 'nq'"
    return env.icr2("sql", env.dataset, query, "--csv").splitlines()[-1]


def _retrievers() -> tuple[str, ...]:
    kinds = ("bm25", "bm25s", "tfidf")
    plain = [f"retrievers.{kind}={{kind: {kind}, k: 5}}" for kind in kinds]
    dense = "retrievers.minilm={kind: dense, model: bundled:minilm, k: 5}"
    return tuple(part for setting in (*plain, dense) for part in ("--set", setting))


def _inputs(folder: Path) -> Path:
    """The tiny sources, and a dataset built from them here."""
    recipe = write_tiny_kilt(folder / "kilt")
    small = ("--set", "lengths=[1k]", "--set", "loft=[]", "--limit", "3")
    command = [sys.executable, "-m", "icr2_cli", "build", str(recipe), "--out", str(folder / "icr2"), *small]
    subprocess.run(command, check=True, cwd=ROOT)
    return folder


def _wheel(folder: Path) -> Path:
    for name in PACKED:
        shutil.copytree(ROOT / name, folder / "tree" / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("icr2_cli.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / "tree")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "."]
    subprocess.run([*build, "--wheel-dir", str(folder)], cwd=folder / "tree", check=True)
    return next(folder.glob("icr2-*.whl"))


def main(wanted: list[str]) -> None:
    """Checks the core and every extra, or those that are named (`core` for the core)."""
    console = Console()
    with tempfile.TemporaryDirectory(prefix="icr2-extras-") as name:
        folder = Path(name)
        wheel, inputs = _wheel(folder), _inputs(folder / "inputs")
        for extra, check in CHECKS.items():
            if wanted and (extra or "core") not in wanted:
                continue
            environment = Environment(folder / "environment", wheel, extra, inputs)
            check(environment)
            shutil.rmtree(environment.folder)
            console.print(f"{extra or 'core'}: {check.__doc__}")


if __name__ == "__main__":
    main(sys.argv[1:])
