"""The pool of each question, and both of its streams after the filter, with what was dropped and why."""

from collections import Counter
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from builders.corpus import Corpus
from builders.engine import Tick
from builders.files import read_table, write_table
from builders.filters import AnswerFilter, Text, drop_reasons
from builders.pool import Pooled, round_robin
from builders.schema import CANDIDATES, POOL
from builders.seeds import rng_for, shuffled
from builders.stages.retrieval import read_run
from builders.work import Build, Counts, Shard


def plan_pool(build: Build) -> list[Shard]:
    """One shard for each shard of questions."""
    return build.shards("gold")


def make_pool(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes the pool of each question, from the top."""
    part = build.shards("gold").index(shard)
    runs = {run.retriever: read_run(build.path("retrieve", run.name), part) for run in build.shards("retrieve")}
    rows = [
        {"qid": qid, **pooled._asdict()}
        for qid in read_table(build.path("gold", shard.name)).column("id").to_pylist()
        for pooled in round_robin({name: run.get(qid, []) for name, run in runs.items()})
    ]
    write_table(out, pa.Table.from_pylist(rows, schema=POOL))
    return {"pooled": len(rows)}


def plan_filter(build: Build) -> list[Shard]:
    """One shard for each shard of questions."""
    return build.shards("gold")


def make_filter(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes every candidate of both streams with the reason why it was dropped, null where it is kept."""
    pools = pools_of(read_table(build.path("pool", shard.name)))
    answer_filter = _answer_filter(build.path("index", "pages"))
    rows, counts = [], Counter[str]()
    for target in read_table(build.path("gold", shard.name)).to_pylist():
        pool = pools.get(target["id"], [])
        random = random_rows(build.recipe.seed, target["id"], build.corpus, {p.row for p in pool}, words_needed(build))
        candidates = [*pool, *(Pooled(row, [], 0, 0.0) for row in random)]
        reasons = drop_reasons(
            [text_at(build.corpus, candidate.row) for candidate in candidates],
            [text_at(build.corpus, row) for row in target["gold"]],
            target["barred"],
            target["answers"] if target["answer_kind"] == "text" else [],
            answer_filter,
        )
        for at, (candidate, reason) in enumerate(zip(candidates, reasons, strict=True)):
            stream = "retrieved" if at < len(pool) else "random"
            rows.append({"qid": target["id"], **candidate._asdict(), "stream": stream, "reason": reason})
            counts[f"{stream}_{reason or 'kept'}"] += 1
        counts["answer_filter_not_applicable"] += target["answer_kind"] != "text"
    write_table(out, pa.Table.from_pylist(rows, schema=CANDIDATES))
    return dict(counts)


@lru_cache(1)
def _answer_filter(corpus: Path) -> AnswerFilter:
    """This process's filter for the corpus with an index at this path, which holds its digest."""
    return AnswerFilter()


def pools_of(table: pa.Table) -> dict[str, list[Pooled]]:
    """The pool of each question."""
    pools: dict[str, list[Pooled]] = {}
    for row in table.to_pylist():
        pools.setdefault(row["qid"], []).append(Pooled(row["row"], row["retrievers"], row["rank"], row["score"]))
    return pools


def text_at(corpus: Corpus, row: int) -> Text:
    """The passage at a row as the filter needs it."""
    passage = corpus.passage(row)
    return Text(row, passage.title, passage.text)


def words_needed(build: Build) -> int:
    """How many words of random passages are drawn: no tokenizer of use makes fewer tokens than words.

    The fifth on top is for what the filter drops.
    """
    longest = max(map(build.recipe.budget, build.recipe.lengths), default=0)
    return longest * 6 // 5 if any(ratio < 100 for ratio in build.recipe.ratios) else 0


def random_rows(seed: str, name: str, corpus: Corpus, excluded: set[int], words: int) -> list[int]:
    """Rows drawn without replacement by a generator of their own, until they hold `words` words or all are drawn.

    A text written without spaces counts a word for every ten characters.
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
