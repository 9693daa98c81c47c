"""Indexes and runs of the retrievers."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from math import isfinite
from pathlib import Path
from shutil import copytree

import pyarrow as pa
import pyarrow.parquet as pq

from builders.config import RetrieverSpec, digest_of
from builders.engine import Tick
from builders.errors import SetupError
from builders.files import link_or_copy, replacing, write_json
from builders.retrieve import RETRIEVERS
from builders.retrieve.base import Context, Hit, Query, ranked_hits, run_table
from builders.schema import RUN, Question
from builders.stages.questions import targets_of
from builders.text import composed
from builders.work import Build, Counts, Shard

_AT_SEARCH = {"k", "min_score"}  # settings that no index depends on
_GIVEN = {"qid": pa.string(), "pid": pa.string(), "score": pa.float64()}  # columns of a finished run


def plan_search_index(build: Build) -> list[Shard]:
    """One shard for each retriever; none if the recipe names finished runs."""
    return [] if build.recipe.runs else [Shard(name, retriever=name) for name in build.recipe.retrievers]


def make_search_index(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes one retriever's index, and what its scores depend on.

    An index is kept by what it was made of, so that another retriever's settings, or another k, make none again.
    """
    context = _context(build, shard.name, tick)
    engine = RETRIEVERS[context.spec.kind]()
    identity = engine.identity(context.spec)
    kept = build.cache / "indexes" / _index_key(build, context.spec, identity)
    if not kept.is_dir():
        with replacing(kept) as partial:
            partial.mkdir()
            engine.index(context, partial)
            write_json(partial / "identity.json", identity)
    copytree(kept, out, copy_function=link_or_copy)
    return {}


def _index_key(build: Build, spec: RetrieverSpec, identity: dict[str, str]) -> str:
    """A digest of what an index depends on: all but what is only asked at search."""
    settings = spec.model_dump(mode="json", exclude=_AT_SEARCH)
    return digest_of({"corpus": build.digests["index"], "spec": settings, "identity": identity})[:32]


def plan_retrieve(build: Build) -> list[Shard]:
    """One run for each retriever."""
    if build.recipe.runs:
        return [Shard(path.name, retriever=path.stem) for path in sorted(_runs_folder(build).glob("*.parquet"))]
    return [Shard(f"{name}.parquet", retriever=name) for name in build.recipe.retrievers]


def make_retrieve(build: Build, shard: Shard, out: Path, tick: Tick) -> Counts:
    """Writes one run as Parquet, a row group for each shard of questions; counts the queries without a hit.

    A run is kept by its retriever and its queries, as an index is.
    """
    queries = [[query_of(target.question) for target in targets_of(table)] for table in build.tables("gold")]
    if build.recipe.runs:
        return _write_run(build, shard, out, queries, tick)
    spec = build.recipe.retrievers[shard.retriever]
    index = build.path("search_index", shard.retriever) / "identity.json"
    made_of = [_index_key(build, spec, json.loads(index.read_text())), spec.model_dump(mode="json"), queries]
    kept = build.cache / "runs" / digest_of(made_of)[:32]
    if not kept.is_dir():
        with replacing(kept) as partial:
            partial.mkdir()
            write_json(partial / "counts.json", _write_run(build, shard, partial / "run.parquet", queries, tick))
    link_or_copy(kept / "run.parquet", out)
    counts: Counts = json.loads((kept / "counts.json").read_text())
    return counts


def _write_run(build: Build, shard: Shard, out: Path, queries: list[list[Query]], tick: Tick) -> Counts:
    flat = [query for part in queries for query in part]
    hits, k = _hits(build, shard, flat, tick)
    counts = {"queries": len(flat), "queries_without_hits": 0}
    with pq.ParquetWriter(out, RUN, compression="zstd") as writer:
        for part in queries:
            table = run_table(build.corpus, part, islice(hits, len(part)), k)
            counts["queries_without_hits"] += len(part) - len(table.column("qid").unique())
            writer.write_table(table, row_group_size=max(1, table.num_rows))
    return counts


def _hits(build: Build, shard: Shard, queries: list[Query], tick: Tick) -> tuple[Iterator[list[Hit]], int | None]:
    if build.recipe.runs:
        return _given_hits(build, build.inputs[f"runs.{shard.retriever}"].path, queries), None
    context = _context(build, shard.retriever, tick)
    engine = RETRIEVERS[context.spec.kind]()
    folder = build.path("search_index", shard.retriever)
    hits = _ticked(engine.search(context, folder, queries), len(queries), tick)
    return hits, context.spec.k if engine.level == "passage" else None


def _ticked(hits: Iterable[list[Hit]], total: int, tick: Tick) -> Iterator[list[Hit]]:
    for done, found in enumerate(hits, start=1):
        yield found
        tick(done, total)


def _context(build: Build, retriever: str, tick: Tick) -> Context:
    spec = build.recipe.retrievers[retriever]
    return Context(spec, build.corpus, build.cache, build.threads, tick)


def query_of(question: Question) -> Query:
    """A question's text and its canonical answer, in NFC; labels and yes/no are omitted: they are not in the source."""
    return Query(question.id, composed(" ".join([question.query, *question.text_answers[:1]]).strip()))


def _runs_folder(build: Build) -> Path:
    folder = build.base / (build.recipe.runs or "")
    if not any(folder.glob("*.parquet")):
        raise SetupError(f"runs: {folder} contains no .parquet file; put one run for each retriever there")
    return folder


def _given_hits(build: Build, path: Path, queries: list[Query]) -> Iterator[list[Hit]]:
    """A finished run's hits, checked at the door."""
    found: dict[str, list[Hit]] = {query.qid: [] for query in queries}
    for number, (qid, pid, score) in enumerate(_given_rows(path), start=1):
        where = f"{path}, row {number}"
        if qid is None or pid is None or score is None or not isfinite(score):
            raise SetupError(f"{where}: qid {qid}, pid {pid}, score {score}; wanted two texts and a finite number")
        row = build.corpus.row_of(pid)
        if row is None:
            raise SetupError(f"{where}: passage {pid} is not in the knowledge source; use the run of this source")
        if qid in found:
            found[qid].append(Hit(row, score))
    return (ranked_hits(found[query.qid]) for query in queries)


def _given_rows(path: Path) -> Iterator[tuple[str | None, str | None, float | None]]:
    """The qid, pid and score of each row of a run."""
    try:
        run = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise SetupError(f"{path} is not a Parquet file ({error}); give a run of another build") from None
    if missing := _GIVEN.keys() - set(run.column_names):
        raise SetupError(f"{path} has columns {run.column_names}; it must also have {sorted(missing)}")
    for name, kind in _GIVEN.items():
        if (of := run.schema.field(name).type) not in (kind, pa.large_string(), pa.float32(), pa.int64()):
            raise SetupError(f"{path}: column {name} is {of}, wanted {kind}")
    columns = [run.column(name).cast(kind).to_pylist() for name, kind in _GIVEN.items()]
    return zip(*columns, strict=True)


def read_run(path: Path, part: int) -> dict[str, list[Hit]]:
    """One shard of questions' hits by question, best first."""
    table: pa.Table = pq.ParquetFile(path).read_row_group(part, columns=["qid", "row", "score"])
    hits: dict[str, list[Hit]] = {}
    for qid, row, score in zip(*(column.to_pylist() for column in table.columns), strict=True):
        hits.setdefault(qid, []).append(Hit(row, score))
    return hits
