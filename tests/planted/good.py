"""A dataset without defects, built from invented pages: large enough for every check to apply."""

import re
from pathlib import Path
from random import Random

import yaml
from rich.console import Console

from builders.load_recipe import RECIPES, load_recipe
from builders.pipeline import run_build
from tests.builders.tiny import KINDS, first_sentence, page, write_lines, write_run

DEMO = RECIPES.parent / "demo"
TASKS = ("nq", "hotpotqa", "fever")
QUESTIONS = 40  # of each task
PAGES = 480
# enough of them that no two pages look alike
WORDS = sorted(set(re.findall(r"\b[a-z]{4,8}\b", " ".join(f.read_text() for f in sorted(DEMO.glob("*.jsonl"))))))
TAKE = {"test": 22, "validation": 9, "train": 9}


def build_good(folder: Path) -> Path:
    """Builds the dataset in a folder; returns the dataset's own folder."""
    kilt, out = folder / "kilt", folder / "good"
    (kilt / "runs").mkdir(parents=True)
    pages = [page(n, Random(f"page {n}"), WORDS) for n in range(PAGES)]
    write_lines(kilt / "pages.jsonl", pages)
    ids = []
    for at, task in enumerate(TASKS):
        questions = [_question(task, n, pages[QUESTIONS * at + n :: 3 * QUESTIONS]) for n in range(QUESTIONS)]
        write_lines(kilt / f"{task}.jsonl", questions)
        ids += [f"{task}-{question['id']}" for question in questions]
    for name in ("one", "two"):
        write_run(kilt / "runs" / f"{name}.parquet", ids, Random(name), PAGES)
    (kilt / "recipe.yaml").write_text(yaml.safe_dump(_recipe(), sort_keys=False), encoding="utf-8")
    recipe, base = load_recipe(str(kilt / "recipe.yaml"), [])
    run_build(recipe, base, out, folder / "work", 1, Console(quiet=True))
    return out


def _question(task: str, n: int, pages: list[dict]) -> dict:
    gold = pages[:2] if task == "hotpotqa" else pages[:1]
    provenance = [first_sentence(page) for page in gold]
    answer = ("SUPPORTS", "REFUTES")[n % 2] if task == "fever" else f"zq{gold[0]['wikipedia_id']}x"
    return {"id": f"{n:02d}", "input": f"{task} number {n}?", "output": [{"answer": answer, "provenance": provenance}]}


def _recipe() -> dict:
    take = {split: {"source": "all", "n": n} for split, n in TAKE.items()}
    files = {task: {"all": {"reader": "kilt", "path": f"{task}.jsonl"}} for task in TASKS}
    return {
        "name": "good",
        "tokenizer": "smollm2",
        "knowledge": {"reader": "kilt", "path": "pages.jsonl"},
        "tasks": {task: {"files": files[task], "take": take, **KINDS[task]} for task in TASKS},
        "runs": "runs",
        "lengths": ["1k", "2k"],
        "ratios": [0, 50, 100],
        "loft": ["2k"],
    }
