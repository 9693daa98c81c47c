"""The pool of each question, and both of its streams after the filter, with dropped candidates and reasons."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from builders.corpus import Corpus
from builders.engine import Tick
from builders.files import read_table, write_table
from builders.filters import AnswerFilter, judged
from builders.pool import round_robin
from builders.schema import CANDIDATES, POOL, Found, Role
from builders.seeds import rng_for, shuffled
from builders.stages.questions import targets_of
from builders.stages.retrieval import read_run
from builders.work import Build, Counts, Shard

STREAMS: dict[Role, str] = {"confounder": "retrieved", "random": "random"}  # by the role that a candidate would have


def plan_pool(build: Build) -> list[Shard]:
    """One shard for each shard of questions."""
    return build.shards("gold")


def make_pool(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the pool of each question, best ranks first."""
    part = build.shards("gold").index(shard)
    runs = {run.retriever: read_run(build.path("retrieve", run.name), part) for run in build.shards("retrieve")}
    rows = [
        _stored(qid, found)
        for qid in read_table(build.path("gold", shard.name)).column("id").to_pylist()
        for found in round_robin({name: run.get(qid, []) for name, run in runs.items()})
    ]
    write_table(out, pa.Table.from_pylist(rows, schema=POOL))
    return {"pooled": len(rows)}


def plan_filter(build: Build) -> list[Shard]:
    """One shard for each shard of questions."""
    return build.shards("gold")


def make_filter(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes every candidate of both streams with the reason why it was dropped, null if it is kept.

    A kept one has the pid and the retrievers of each near duplicate that was dropped for it.
    """
    corpus, pools = build.corpus, _pools_of(read_table(build.path("pool", shard.name)))
    answer_filter = _answer_filter(build.path("index", "pages"))
    rows, counts = [], Counter[str]()
    for question, gold, barred in targets_of(read_table(build.path("gold", shard.name))):
        pool = pools.get(question.id, [])
        random = random_rows(build.recipe.seed, question.id, corpus, {found.row for found in pool}, words_needed(build))
        candidates = [*pool, *map(Found, random)]
        passages = [*map(corpus.at, candidates)]
        verdicts = judged(passages, [*map(corpus.passage, gold)], barred, question.text_answers, answer_filter)
        copies: dict[int, list[dict[str, Any]]] = {}
        for passage, verdict in zip(passages, verdicts, strict=True):
            if verdict.copy_of is not None:
                copies.setdefault(verdict.copy_of, []).append(
                    {"pid": passage.pid, "retrievers": list(passage.retrievers)}
                )
        for at, (found, verdict) in enumerate(zip(candidates, verdicts, strict=True)):
            stream, reason = STREAMS[found.role], verdict.reason
            of = {"stream": stream, "reason": reason, "copies": copies.get(at, [])}
            rows.append({**_stored(question.id, found), **of})
            counts[f"{stream}_{reason or 'kept'}"] += 1
        counts["answer_filter_not_applicable"] += question.answer_kind != "text"
    write_table(out, pa.Table.from_pylist(rows, schema=CANDIDATES))
    return dict(counts)


@lru_cache(1)
def _answer_filter(corpus: Path) -> AnswerFilter:
    """This process's filter for the corpus whose index is at this path; the path contains its digest."""
    return AnswerFilter()


def _stored(qid: str, found: Found) -> dict[str, Any]:
    return {"qid": qid, **found._asdict()}


def _pools_of(table: pa.Table) -> dict[str, list[Found]]:
    """The pool of each question."""
    pools: dict[str, list[Found]] = {}
    for qid, found in zip(table.column("qid").to_pylist(), found_of(table, "confounder"), strict=True):
        pools.setdefault(qid, []).append(found)
    return pools


def streams_of(table: pa.Table) -> dict[tuple[str, Role], list[Found]]:
    """The kept candidates of a table of schema.CANDIDATES: each question's streams, by the role of their passages."""
    streams: dict[tuple[str, Role], list[Found]] = {}
    kept = table.filter(pc.is_null(table.column("reason")))
    for role, stream in STREAMS.items():
        part = kept.filter(pc.equal(kept.column("stream"), stream))
        for qid, found in zip(part.column("qid").to_pylist(), found_of(part, role), strict=True):
            streams.setdefault((qid, role), []).append(found)
    return streams


def found_of(table: pa.Table, role: Role) -> Iterator[Found]:
    """The records of a table with the columns of schema.POOL, in its order."""
    columns = (table.column(name).to_pylist() for name in ("row", "retrievers", "rank", "score"))
    return (Found(row, role, tuple(who), rank, score) for row, who, rank, score in zip(*columns, strict=True))


def words_needed(build: Build) -> int:
    """How many words of random passages are drawn: a usable tokenizer makes at least one token per word.

    A fifth is added for passages that the filter drops.
    """
    longest = max(map(build.recipe.budget, build.recipe.lengths), default=0)
    return longest * 6 // 5 if any(ratio < 100 for ratio in build.recipe.ratios) else 0


def random_rows(seed: str, name: str, corpus: Corpus, excluded: set[int], words: int) -> list[int]:
    """Rows drawn without replacement by their own generator, until they have `words` words or all are drawn.

    In a text written without spaces, ten characters count as a word.
    """
    drawn: list[int] = []
    for row in shuffled(rng_for(seed, name, "random"), len(corpus)):
        if words <= 0:
            break
        if row not in excluded:
            text = corpus.passage(row).text
            words -= max(len(text.split()), len(text) // 10)
            drawn.append(row)
    return drawn
