"""Small made datasets, and a file in HotpotQA's layout to make one from."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from builders.load_recipe import load_recipe
from builders.synthetic.build import run_made

WORDS = (
    "amber brook cedar delta ember field grove heath inlet jetty knoll lagoon meadow night orchard pier quarry".split()
)


def sentence(n: int) -> str:
    """A sentence of its own for every number."""
    return " ".join(WORDS[(n * 7 + step * (n % 5 + 1)) % len(WORDS)] + str(n * step) for step in range(1, 12)) + "."


def question(n: int, **changes: Any) -> dict[str, Any]:
    """Question n over ten paragraphs `Tn.0` ... `Tn.9`, of which 2 and 5 are gold; the answer stands in 5."""
    context = [[f"T{n}.{at}", [sentence(10 * n + at), f" More {n * 100 + at}."]] for at in range(10)]
    context[5][1][1] = f" The answer is zq{n}x."
    facts = [[f"T{n}.2", 0], [f"T{n}.5", 1]]
    row = {"_id": f"q{n}", "question": f"What {n}?", "answer": f"zq{n}x", "type": "bridge", "level": "hard"}
    return {**row, "context": context, "supporting_facts": facts, **changes}


def write_hotpot(folder: Path, questions: list[dict[str, Any]]) -> Path:
    path = folder / "hotpot_dev_distractor_v1.json"
    path.write_text(json.dumps(questions))
    return path


def build(folder: Path, recipe: str, *settings: str, out: str = "out") -> Path:
    """Builds a bundled recipe with settings changed; returns the dataset's folder."""
    loaded, base = load_recipe(recipe, [f"data={folder}", *settings])
    run_made(loaded, base, folder / out, folder / f"{out}.work", Console(quiet=True))
    return folder / out


def build_controlled(folder: Path, *settings: str, out: str = "controlled") -> Path:
    """Three test questions and one for validation of either number of hops, at four depths and two lengths."""
    small = ("lengths=[1k, 2k]", "take={test: 3, validation: 1}", "depths=[0, 30, 60, 100]", "world=60")
    return build(folder, "controlled", *small, *settings, out=out)


def build_given(folder: Path, questions: list[dict[str, Any]], *settings: str, out: str = "given") -> Path:
    """Questions in HotpotQA's layout over the paragraphs that come with them, and at 2k."""
    write_hotpot(folder, questions)
    files = f"tasks.hotpotqa.files.dev.rows={len(questions)}"
    take = "tasks.hotpotqa.take={test: {source: dev, n: 100}}"
    return build(folder, "given_hotpotqa", files, take, "lengths=[2k]", *settings, out=out)
