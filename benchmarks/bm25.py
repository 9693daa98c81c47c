"""BM25 search on one Lucene index, compared with Pyserini's searcher; each side runs in its own process."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.inputs import corpus, queries
from benchmarks.report import Result
from benchmarks.timing import REPEATS, timed
from builders.config import RetrieverSpec
from builders.corpus import Corpus
from builders.retrieve import jvm
from builders.retrieve.base import Context, Query, searchable
from builders.retrieve.bm25 import Bm25, Settings

QUERIES = 2000
K = 200
THREADS = 2
HEAP = "1g"
TOLERANCE = 1e-4  # of scores
MOST_MEMORY = 1500  # MB


Found = list[tuple[list[int], list[float]]]  # for each query, rows and scores
Search = Callable[[Sequence[Query]], Found]


class Side(NamedTuple):
    """The report of a search process."""

    seconds: float
    megabytes: float  # its peak memory
    rows: list[list[int]]
    scores: list[list[float]]


def bench(folder: Path, work: Path) -> list[Result]:
    """Queries per second with k=200 and two threads, and the peak memory of both processes."""
    asked = queries(folder, QUERIES)
    (work / "queries.json").write_text(json.dumps(asked))
    pyserini_index(corpus(folder, work / "corpus"), work)
    runs = [(_in_process("ours", work), _in_process("peer", work)) for _ in range(REPEATS)]
    ours, peer = (min(sides, key=lambda side: side.seconds) for sides in zip(*runs, strict=True))
    memory = max(side.megabytes for side, _ in runs), max(side.megabytes for _, side in runs)
    same, off = agreement(ours, peer)
    speed = Result(
        "bm25",
        "queries/s",
        len(asked) / ours.seconds,
        len(asked) / peer.seconds,
        peer.seconds / ours.seconds,
        "2 or more",
        same == len(asked) and off <= TOLERANCE,
        "Pyserini's LuceneSearcher.batch_search",
        (f"{same:,} of {len(asked):,} lists have the same hits in the same order; scores differ by at most {off:.1e}",),
    )
    wanted = f"ours under {MOST_MEMORY:,} MB"
    return [speed, Result("bm25 memory", "MB", *memory, memory[0] / memory[1], wanted, None, speed.peer_is)]


def agreement(ours: Side, peer: Side) -> tuple[int, float]:
    """The number of queries with equal lists on both sides, and the largest difference of scores."""
    same = [at for at, (a, b) in enumerate(zip(ours.rows, peer.rows, strict=True)) if a == b]
    off = (np.abs(np.subtract(ours.scores[at], peer.scores[at])) for at in same if ours.rows[at])
    return len(same), max((float(differences.max()) for differences in off), default=0.0)


def pyserini_index(passages: Corpus, work: Path) -> None:
    """Writes `work/index`: Anserini's index of all passages, ids being zero-padded rows, and `Bm25`'s files."""
    documents = work / "documents"
    documents.mkdir()
    with (documents / "passages.jsonl").open("w", encoding="utf-8") as file:
        for start, batch in passages.batches():
            for row, text in enumerate(searchable(batch).to_pylist(), start=start):
                file.write(json.dumps({"id": f"{row:09d}", "contents": text}) + "\n")
    (work / "index").mkdir()
    java = [str(jvm.java_home() / "bin" / "java"), f"-Xmx{HEAP}", "-cp", str(jvm.anserini_jar())]
    options = {"collection": "JsonCollection", "generator": "DefaultLuceneDocumentGenerator", "threads": "1"}
    options |= {"input": str(documents), "index": str(work / "index" / "lucene")}
    arguments = [part for name, value in options.items() for part in (f"-{name}", value)]
    subprocess.run(
        [*java, "io.anserini.index.IndexCollection", *arguments, "-optimize"], check=True, capture_output=True
    )
    (work / "index" / "settings.json").write_text(json.dumps(Settings()._asdict()))


def _in_process(side: str, work: Path) -> Side:
    out = work / f"{side}.json"
    subprocess.run([sys.executable, "-m", "benchmarks.bm25", side, str(work), str(out)], check=True)
    return Side(**json.loads(out.read_text()))


def _ours(work: Path) -> Search:
    passages = Corpus(
        [work / "corpus" / "pages.arrow"], [work / "corpus" / "passages.arrow"], work / "corpus" / "index"
    )
    spec = RetrieverSpec(kind="bm25", k=K, options={"heap": HEAP})
    context = Context(spec, passages, work, THREADS, lambda done, total: None)

    def search(asked: Sequence[Query]) -> Found:
        found = Bm25().search(context, work / "index", asked)
        return [([hit.row for hit in hits], [hit.score for hit in hits]) for hits in found]

    return search


def _peer(work: Path) -> Search:
    jvm.start(HEAP)
    os.environ.setdefault("OPENAI_API_KEY", "unused")  # the import creates a client, which is never used
    from pyserini.search.lucene import LuceneSearcher

    searcher: Any = LuceneSearcher(str(work / "index" / "lucene"))
    searcher.set_bm25(Settings().k1, Settings().b)

    def search(asked: Sequence[Query]) -> Found:
        texts, ids = [query.text for query in asked], [query.qid for query in asked]
        found = searcher.batch_search(texts, ids, k=K, threads=THREADS)
        return [([int(hit.docid) for hit in found[qid]], [hit.score for hit in found[qid]]) for qid in ids]

    return search


def main(side: str, work: Path, out: Path) -> None:
    """One side: warms up on a tenth of the queries, searches all of them, and writes its report to `out`."""
    asked = [Query(*query) for query in json.loads((work / "queries.json").read_text())]
    searcher = {"ours": _ours, "peer": _peer}[side](work)
    searcher(asked[::10])
    run = timed(lambda: searcher(asked))
    rows, scores = zip(*run.result, strict=True)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    out.write_text(json.dumps(Side(run.seconds, kilobytes / 1000, list(rows), list(scores))._asdict()))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
