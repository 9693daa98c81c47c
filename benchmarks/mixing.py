"""The published mixing script of the ICR² paper, re-implemented and compared with ours; see docs/mixing.md.

`python -m benchmarks.mixing [--data DIR]` prints the table of that page.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.answer_filter import squad_normal
from benchmarks.inputs import TASKS, corpus, kilt_folder, questions
from benchmarks.report import run_command
from builders.config import RetrieverSpec
from builders.corpus import Corpus
from builders.filters import AnswerFilter, drop_reasons
from builders.gold import gold_rows, resolve
from builders.pool import round_robin
from builders.retrieve.base import Context, Hit
from builders.retrieve.bm25 import Bm25
from builders.schema import Passage, Question
from builders.seeds import order_key
from builders.stages.retrieval import query_of

QUESTIONS = 500  # of each task
SPLIT = 100  # rows of a published split
PASSAGES = 200  # of a context
DEPTH = 1000  # passages that BM25 retrieves per question
RETRIEVERS = 5
ENDS = 50  # questions compared at each end
SEED = "benchmark"


class Asked(NamedTuple):
    """A question, its gold passages and the other rows of its provenance, and its BM25 hits."""

    question: Question
    gold: list[int]
    barred: list[int]
    hits: list[Hit]


class Row(NamedTuple):
    """One line of the table: mean confounders of the first and last questions in a context of 200 passages."""

    task: str
    script: tuple[float, float]  # a run over the rows of one split
    script_all: tuple[float, float]  # a run over all questions
    ours: tuple[float, float]
    any_order: bool  # whether ours gives every question the same passages in the opposite order of questions
    gold_first: float  # share of our contexts that begin with gold; all of the script's do


def dealt(hits: Sequence[Hit]) -> dict[str, list[Hit]]:
    """One ranked list divided among several retrievers, as if each had found its share."""
    return {f"retriever{n}": list(hits[n::RETRIEVERS]) for n in range(RETRIEVERS)}


def script_contexts(asked: Sequence[Asked], passages: Corpus) -> Iterator[list[int]]:
    """The confounders of each question, in order: a used passage is unavailable to all later questions."""
    used: set[int] = set()
    for question, gold, _, hits in asked:
        answers = [squad_normal(answer) for answer in question.answers]
        context: list[int] = []
        for found in round_robin(dealt(hits)):
            if len(context) == PASSAGES:
                break
            if found.row not in used and found.row not in gold and not _leaks(answers, passages.passage(found.row)):
                used.add(found.row)
                context.append(found.row)
        yield context


def _leaks(answers: Sequence[str], passage: Passage) -> bool:
    normal = squad_normal(passage.text)
    return any(answer in normal for answer in answers)


def our_contexts(asked: Sequence[Asked], passages: Corpus) -> Iterator[list[int]]:
    """The confounders of each question, in order; questions are independent."""
    answer_filter = AnswerFilter()
    for question, gold, barred, hits in asked:
        pool = [passages.passage(found.row) for found in round_robin(dealt(hits))]
        reasons = drop_reasons(pool, [*map(passages.passage, gold)], barred, question.text_answers, answer_filter)
        kept = [text.row for text, reason in zip(pool, reasons, strict=True) if reason is None]
        yield kept[:PASSAGES]


def measured(task: str, asked: Sequence[Asked], passages: Corpus) -> Row:
    """The row of one task."""
    rows = asked[:SPLIT]
    ours = list(our_contexts(rows, passages))
    backwards = list(our_contexts(rows[::-1], passages))[::-1]
    return Row(
        task,
        _ends(list(script_contexts(rows, passages))),
        _ends(list(script_contexts(asked, passages))),
        _ends(ours),
        ours == backwards,
        sum(begins_with_gold(*pair, passages) for pair in zip(rows, ours, strict=True)) / len(rows),
    )


def begins_with_gold(one: Asked, confounders: Sequence[int], passages: Corpus) -> bool:
    """Whether our order of a context, by a hash of seed, question and passage, puts a gold passage first."""
    rows = [*one.gold, *confounders]
    keys = [order_key(SEED, one.question.id, pid) for pid in passages.pids(rows)]
    return rows[keys.index(min(keys))] in one.gold


def _ends(contexts: Sequence[Sequence[int]]) -> tuple[float, float]:
    n = min(ENDS, len(contexts) // 2)
    first, last = contexts[:n], contexts[-n:]
    return sum(map(len, first)) / n, sum(map(len, last)) / n


def asked_of(folder: Path, task: str, passages: Corpus, index: Path) -> list[Asked]:
    """The questions of a task with gold, and the BM25 hits of each."""
    resolved = (resolve(question, passages, {})[0] for question in questions(folder, task))
    usable = [question for question in resolved if question][:QUESTIONS]
    found = Bm25().search(_context(passages, index), index, [query_of(q) for q in usable])
    golds = (gold_rows(question, passages, "all" if task == "hotpotqa" else "best") for question in usable)
    return [Asked(q, gold, barred, hits) for q, (gold, barred), hits in zip(usable, golds, found, strict=True)]


def _context(passages: Corpus, index: Path) -> Context:
    return Context(RetrieverSpec(kind="bm25", k=DEPTH), passages, index, 2, lambda done, total: None)


def table(rows: Sequence[Row]) -> Table:
    """The table of docs/mixing.md."""
    shown = Table("task", title=f"confounders of the first {ENDS} and the last {ENDS} questions")
    for name in (
        f"script, {SPLIT} rows",
        "script, all rows",
        f"ours, {SPLIT} rows",
        "ours reversed",
        "ours: gold first",
    ):
        shown.add_column(name)
    for row in rows:
        pairs = [f"{first:.0f} to {last:.0f}" for first, last in (row.script, row.script_all, row.ours)]
        shown.add_row(row.task, *pairs, "same" if row.any_order else "[red]differs[/red]", f"{row.gold_first:.1%}")
    return shown


def run(
    data: Annotated[Path | None, typer.Option(help="Folder of real inputs, which contains kilt_mini.")] = None,
) -> None:
    """Mean confounders in contexts of 200 passages, mixed by the published script and by ours."""
    folder = kilt_folder(data)
    with TemporaryDirectory(prefix="icr2-bench-") as work:
        passages, index = corpus(folder, Path(work) / "corpus"), Path(work) / "index"
        index.mkdir()
        Bm25().index(_context(passages, index), index)
        rows = [measured(task, asked_of(folder, task, passages, index), passages) for task in TASKS]
    Console(width=140).print(table(rows))


if __name__ == "__main__":
    run_command(run)
