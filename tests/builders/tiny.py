"""A KILT of 240 pages with questions and runs, written by a seeded generator: small enough to build in seconds."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

WORDS = """
    river town bridge harbour stone garden market tower winter castle forest island road valley school museum
    music letter winter bread copper silver engine paper colour song field coast cloud house king ship cloth
""".split()
PAGES = 240
KINDS: dict[str, dict[str, Any]] = {
    "nq": {"kind": "qa"},
    "hotpotqa": {"kind": "qa", "gold": "all"},
    "fever": {"kind": "fact", "labels": {"SUPPORTS": "TRUE", "REFUTES": "FALSE"}},
}


def write_tiny_kilt(folder: Path, seed: int = 7, shuffled: bool = False) -> Path:
    """Writes pages, three task files, two runs and `recipe.yaml` into a folder; returns the recipe's path.

    `shuffled` lists the questions in another order.
    """
    rng = Random(seed)
    (folder / "runs").mkdir(parents=True)
    pages = [page(n, rng) for n in range(PAGES)]
    write_lines(folder / "pages.jsonl", pages)
    tasks = {task: [_question(task, n, pages) for n in range(14)] for task in ("nq", "hotpotqa", "fever")}
    for questions in tasks.values():
        if shuffled:
            Random(1).shuffle(questions)
    for task, questions in tasks.items():
        write_lines(folder / f"{task}.jsonl", questions)
    ids = sorted(f"{task}-{question['id']}" for task, questions in tasks.items() for question in questions)
    for name in ("one", "two"):
        write_run(folder / "runs" / f"{name}.parquet", ids, Random(f"{seed} {name}"))
    recipe = folder / "recipe.yaml"
    recipe.write_text(yaml.safe_dump(_recipe()), encoding="utf-8")
    return recipe


def page(n: int, rng: Random, words: Sequence[str] = WORDS) -> dict:
    """A page of two paragraphs; the first contains a word that occurs nowhere else."""
    sentences = [" ".join(rng.choices(words, k=rng.randint(8, 20))).capitalize() + "." for _ in range(9)]
    first = f"Place {n} lies on {rng.choice(words)} street and its sign is zq{n}x. "
    text = [f"Place {n}\n", first + " ".join(sentences[:4]) + "\n", " ".join(sentences[4:]) + "\n"]
    return {"_id": str(n), "wikipedia_id": str(n), "wikipedia_title": f"Place {n}", "text": text, "anchors": []}


def first_sentence(page: dict) -> dict:
    """A provenance: the first sentence of a page."""
    return {
        "wikipedia_id": page["wikipedia_id"],
        "title": page["wikipedia_title"],
        "start_paragraph_id": 1,
        "start_character": 0,
        "end_paragraph_id": 1,
        "end_character": page["text"][1].index(".") + 1,
    }


def _question(task: str, n: int, pages: list[dict]) -> dict:
    gold = [pages[n], pages[n + 100]] if task == "hotpotqa" else [pages[n]]
    provenance = [first_sentence(page) for page in gold]
    answer = ("SUPPORTS", "REFUTES")[n % 2] if task == "fever" else f"zq{n}x"
    return {"id": f"{n:02d}", "input": f"{task} number {n}?", "output": [{"answer": answer, "provenance": provenance}]}


def write_run(path: Path, ids: list[str], rng: Random, pages: int = PAGES) -> None:
    rows = [(qid, page, -rank / 10) for qid in ids for rank, page in enumerate(rng.sample(range(pages), 60), start=1)]
    columns = {"qid": [r[0] for r in rows], "pid": [f"{r[1]}:0" for r in rows], "score": [r[2] for r in rows]}
    pq.write_table(pa.table(columns), path)


def write_lines(path: Path, records: list[dict]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def _recipe() -> dict:
    def task(name: str, **more: Any) -> dict:
        take = {
            "test": {"source": "all", "n": 6},
            "validation": {"source": "all", "n": 4},
            "train": {"source": "all", "n": 4},
        }
        return {"files": {"all": {"reader": "kilt", "path": f"{name}.jsonl"}}, "take": take, **more}

    return {
        "name": "tiny",
        "tokenizer": "smollm2",
        "knowledge": {"reader": "kilt", "path": "pages.jsonl"},
        "tasks": {name: task(name, **more) for name, more in KINDS.items()},
        "runs": "runs",
        "lengths": ["1k", "2k"],
        "ratios": [0, 50, 75, 100],
        "loft": ["2k"],
    }
