"""Fires mutated records and recipes at every reader and counts what comes of each.

Run `python -m tests.fire_sources [SEED] [RECORDS]`: tracebacks are printed, and make the exit code 1. The same seed
makes the same inputs.
"""

import json
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import yaml

from builders.chunk import chunk_table
from builders.errors import SetupError
from builders.load_recipe import RECIPES, load_recipe
from builders.pipeline import pipeline_of
from builders.schema import PAGES, QUESTIONS, Page, Question
from builders.sources import GIVEN_READERS, PAGE_READERS, QUESTION_READERS
from builders.sources.fetch import yet_to_download

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**31, 2**63, -(2**63), 10**400, 1e308, "", " ", "x", "A\u0301", "\ud83d", "\x00",
    "\u202e", "None", "~nouser-here/x", "2024-13-45", "http://u:p@h/x?token=SECRET", "x" * 5000, [], {}, [[]], [None],
    [1], ["a"], [{}], {"a": None}, [["a", 1]], [["a", "b", "c"]], {"text": 1}, [{"text": "a", "href": 3}],
)  # fmt: skip
TEXTS = (
    "", "{", "[", "[" * 9999, '{"a":' * 9999, "9" * 5000, '{"a": ' + "9" * 5000 + "}", "[{}][{}]", "[{}]x", "[{}{}]",
    "[{},]", '{"a": 1, "a": 2}', "null", '"x"', "[1, 2", '{"a": NaN}', "\ufeff", "\x00", "\x1f\x8b", "{}\n{}", "[]",
)  # fmt: skip
_BAD = ("traceback", "bad line")
SPANS = {
    "wikipedia_id": "1", "title": "A", "start_paragraph_id": 1, "start_character": 0, "end_paragraph_id": 1,
    "end_character": 3,
}  # fmt: skip
CONTEXT = [["A", ["One.", " Two."]], ["B", ["Three."]], ["A", ["Four."]]]
FRAMES = {
    "Unnamed: 0": 1, "Prompt": "q?", "Answer": "x", "reasoning_types": "a | b",
    "wikipedia_link_1": "https://en.wikipedia.org/wiki/A%CC%81", "wiki_links": "['https://en.wikipedia.org/wiki/B']",
}  # fmt: skip
HOTPOT = {
    "_id": "1", "question": "q?", "answer": "Two", "type": "t", "supporting_facts": [["A", 1], ["B", 0]],
    "context": CONTEXT,
}  # fmt: skip
SEEDS: dict[str, dict[str, Any]] = {
    "kilt pages": {"wikipedia_id": "1", "wikipedia_title": "A", "text": ["A", "One. Two."],
                   "anchors": [{"text": "x", "href": "B_c#d"}]},
    "kilt questions": {"id": "1", "input": "q?", "meta": {"hops": 2, "reasoning_types": ["a"]},
                       "output": [{"answer": "x", "provenance": [SPANS]},
                                  {"provenance": [{"title": "A", "quote": "One"}]}]},
    "hotpotqa questions": HOTPOT, "hotpotqa pages": HOTPOT, "hotpotqa given": HOTPOT,
    "twowiki questions": HOTPOT, "twowiki pages": {"title": "A", "text": "One."},
    "musique pages": {"paragraphs": [{"title": "A", "paragraph_text": "One."}]},
    "musique questions": {"id": "2hop__1", "question": "q?", "answer": "One", "answer_aliases": ["1"],
                          "answerable": True, "question_decomposition": [{}, {}],
                          "paragraphs": [{"title": "A", "paragraph_text": "One.", "is_supporting": True}]},
    "frames questions": FRAMES, "frames table": FRAMES,
    "intros pages": {"A": {"title": "A", "extract": "One.", "description": "d"}},
}  # fmt: skip


def mutated(rng: Random, value: Any) -> Any:
    """A copy of a JSON value with one to three parts replaced, removed, repeated or renamed."""
    root = [deepcopy(value)]
    for _ in range(rng.randint(1, 3)):
        holder, key = rng.choice(list(_places(root)))
        match rng.randint(0, 4):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1 if isinstance(holder, list) and holder is not root:
                holder.insert(rng.randint(0, len(holder)), deepcopy(holder[key]))
            case 2 if isinstance(holder, dict):
                holder[str(rng.choice(VALUES[10:22]))] = holder.pop(key)
            case _:
                holder[key] = deepcopy(rng.choice(VALUES))
    return root[0]


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys: Iterable[Any] = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])


def file_of(rng: Random, name: str) -> bytes:
    """A file of one to three records, some of them mutated, in one of the layouts; sometimes cut, or of other bytes."""
    seed = SEEDS[name]
    if name == "frames table":
        return _table(rng, seed)
    records = [mutated(rng, seed) if rng.random() < 0.8 else seed for _ in range(rng.randint(1, 3))]
    texts = [json.dumps(record, ensure_ascii=rng.random() < 0.5) for record in records]
    text = texts[0] if name.startswith("intros") else rng.choice(("\n".join(texts), f"[{', '.join(texts)}]"))
    if rng.random() < 0.1:
        at = rng.randint(0, len(text))
        text = text[:at] + rng.choice(TEXTS) + text[at + rng.randint(0, 3) :]
    content = text.encode(errors="surrogatepass" if rng.random() < 0.5 else "replace")
    return content[: rng.randint(0, len(content))] if rng.random() < 0.03 else content


def _table(rng: Random, seed: dict[str, Any]) -> bytes:
    """The same as a table with tabs, sometimes with cells too many, too few, or in quotes that do not end."""
    rows = [list(seed), [str(value) for value in seed.values()]]
    for _ in range(rng.randint(0, 3)):
        row = rng.choice(rows)
        at = rng.randint(0, len(row))
        row[at : at + rng.randint(0, 2)] = [str(rng.choice((*VALUES[:9], *VALUES[11:], '"', "[" * 9999, "a b")))]
    return "\n".join("\t".join(row) for row in rows).encode(errors="replace")


def read(name: str, path: Path) -> None:
    """Reads a file as a build does, up to its tables."""
    reader, _, what = name.partition(" ")
    counts: Counter[str] = Counter()
    if what == "pages":
        pages = list(PAGE_READERS[reader](path, counts))
    elif what in ("questions", "table"):
        _store(list(QUESTION_READERS[reader](path, "t", counts)))
        return
    else:
        given = list(GIVEN_READERS[reader](path, "t", counts))
        _store([question for question, _ in given])
        pages = [page for _, some in given for page in some]
    _keep(pages)


def _keep(pages: list[Page]) -> None:
    rows = [
        {**page._asdict(), "anchors": [{"text": text, "title": title} for text, title in page.anchors]}
        for page in pages
    ]
    chunk_table(pa.Table.from_pylist(rows, schema=PAGES), 100)


def _store(questions: list[Question]) -> None:
    rows = [
        {**one._asdict(), "split": "test", "provenance": [span._asdict() for span in one.provenance]}
        for one in questions
    ]
    pa.Table.from_pylist(rows, schema=QUESTIONS)


def load(rng: Random, folder: Path) -> None:
    """Loads a mutated recipe, or one with a mutated setting, and looks for its sources."""
    name = rng.choice(sorted(path.stem for path in RECIPES.glob("*.yaml")))
    values: Any = yaml.safe_load((RECIPES / f"{name}.yaml").read_text(encoding="utf-8"))
    settings: list[str] = []
    if rng.random() < 0.4:
        keys = [*values, "knowledge.path", "knowledge.rows", "tasks.nq.gold", "retrievers.bm25.k", "data", "runs", "x"]
        settings = [f"{rng.choice(keys)}={json.dumps(rng.choice(VALUES), ensure_ascii=False)}"]
    else:
        values = mutated(rng, values)
    text = yaml.safe_dump(values) if rng.random() < 0.9 else rng.choice(TEXTS)
    (folder / "r.yaml").write_text(text, encoding="utf-8", errors="surrogatepass")
    recipe, base = load_recipe(str(folder / "r.yaml"), settings)
    recipe.portable()
    sources = pipeline_of(recipe).sources(recipe, recipe.base(base))
    yet_to_download(sources.values(), recipe.base(base), folder)


def fire(seed: str, records: int) -> Counter[str]:
    """How many inputs were accepted, refused in one line, or ended in a traceback, which is printed."""
    outcomes: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for number in range(records):
            rng = Random(f"{seed} {number}")
            name = rng.choice([*SEEDS, "recipe", "recipe"])
            path = folder / ("input.tsv" if name == "frames table" else "input.json")
            if name == "recipe":
                found = outcome(partial(load, rng, folder))
            else:
                path.write_bytes(file_of(rng, name))
                found = outcome(partial(read, name, path))
            outcomes[f"{name.split()[0]}: {found}"] += 1
            if found in _BAD:
                sys.stderr.write(f"number {number}, {name}: {found}\n")
    return outcomes


def outcome(action: Callable[[], None]) -> str:
    """What comes of an action; a line of an error is one line, short, and without secrets."""
    try:
        action()
    except SetupError as error:
        line = str(error)
        fine = "\n" not in line and len(line) < 1000 and "SECRET" not in line and line
        return "one line" if fine else "bad line"
    except Exception:
        traceback.print_exc(limit=-4)
        return "traceback"
    return "accepted"


def main() -> int:
    """Prints the counts; 1 where there was a traceback or an error line that is none."""
    seed, records = (sys.argv[1:] + ["fire", "3000"][len(sys.argv[1:]) :])[:2]
    outcomes = fire(seed, int(records))
    for name, n in sorted(outcomes.items()):
        sys.stdout.write(f"{name:30} {n:6,}\n")
    return int(any(name.endswith(_BAD) for name in outcomes))


if __name__ == "__main__":
    sys.exit(main())
