"""An encoder whose vectors are given, and haystacks to ask it for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.schema import INSTANCES
from eval_harness.protocols.needles.encoding import Reading, Side
from eval_harness.protocols.needles.haystacks import Haystack, Planted

AXIS = (1.0, 0.0)  # of every question

# Vectors of length 1 (and one of length 5, whose cosine is the same) by their cosine to AXIS.
BY_COSINE = {
    1.0: (1.0, 0.0),
    0.96: (0.96, 0.28),
    0.8: (0.8, 0.6),
    0.6: (3.0, 4.0),
    0.28: (0.28, 0.96),
    0.0: (0.0, 1.0),
    -0.6: (-0.6, 0.8),
}


class KnownEmbedder:
    """Gives the vector that is kept for a text's beginning; `limit` counts characters, one a token."""

    def __init__(self, vectors: Mapping[str, Sequence[float]], limit: int | None = None) -> None:
        self._vectors = vectors
        self.limit = limit
        self.encoded: list[tuple[Side, str]] = []

    @property
    def digest(self) -> str:
        return f"{self.limit or 0:064d}"

    def encode(self, side: Side, texts: Sequence[str], most_tokens: int) -> np.ndarray:
        assert max(len(text[: self.limit]) for text in texts) <= most_tokens
        self.encoded += [(side, text) for text in texts]
        return np.array([self._vectors[text[: self.limit]] for text in texts], dtype=np.float32)

    def readings(self, side: Side, texts: Sequence[str]) -> list[Reading]:
        limit = self.limit
        return [Reading(len(t), len(t) if limit is None else min(limit, len(t)), t[:limit]) for t in texts]

    def describe(self) -> dict[str, Any]:
        prompts = {"query_prompt": "", "passage_prompt": ""}
        return {"name": "known", "files": "", "dtype": "float32", "limit": self.limit, **prompts}


def planted(
    question: str,
    cosine: float,
    depth: int,
    order: str = "default",
    needle: str = "one_hop",
    config: str = "needles_128",
) -> tuple[Haystack, float]:
    """A haystack of 100 characters beside its needle, which stands exactly at its depth; and its cosine."""
    words = f"{needle} of {question}"
    text = "x" * depth + words + "y" * (100 - depth)
    id = f"{question}-{needle}-{order}-{depth}-{config}"
    where = Planted(needle, order, depth, depth, depth + len(words))  # type: ignore[arg-type]
    return Haystack(id, config, "kind", question, f"{id}: {text}", _moved(where, len(id) + 2)), cosine


def control(question: str, cosine: float, number: int, config: str = "needles_128") -> tuple[Haystack, float]:
    """A haystack without a needle, and its cosine."""
    id = f"{question}-control-{number}-{config}"
    return Haystack(id, config, "kind", question, f"{id}: {'z' * 100}", None), cosine


def _moved(planted: Planted, by: int) -> Planted:
    return planted._replace(start=planted.start + by, end=planted.end + by)


def embedder_of(
    haystacks: Sequence[tuple[Haystack, float]], needles: Mapping[tuple[str, str], float], limit: int | None = None
) -> KnownEmbedder:
    """The encoder that gives each haystack, and each needle alone by (question, kind), its cosine to the question."""
    vectors = {haystack.text: BY_COSINE[cosine] for haystack, cosine in haystacks}
    vectors |= {haystack.question: AXIS for haystack, _ in haystacks}
    vectors |= {f"{needle} of {question}": BY_COSINE[cosine] for (question, needle), cosine in needles.items()}
    return KnownEmbedder(vectors, limit)


def row(
    id: str,
    question: str,
    texts: Sequence[str],
    gold: Sequence[int],
    types: Sequence[str] = (),
    depth: int | None = None,
) -> dict[str, Any]:
    """A row of a dataset of needles of format 1; without types, a control."""
    flags = [*types, *([] if depth is None else [f"depth_{depth}"])]
    passages = [
        {"pid": f"{id}:{n}", "title": "", "text": text, "role": "gold" if n in gold else "random", "retrievers": []}
        for n, text in enumerate(texts)
    ]
    return {
        "id": id,
        "context_id": id,
        "task": id.split("-")[0],
        "query": question,
        "answers": ["Ada"],
        "passages": passages,
        "gold": list(gold),
        "n_tokens": 9,
        "confounding_ratio": 0.0,
        "hops": 1,
        "reasoning_types": list(types),
        "flags": flags or ["control"],
    }


def write_config(folder: Path, config: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Writes a config of one file; returns what the manifest says of it."""
    path = folder / config / "test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows), INSTANCES), path)
    return {"test": [{"path": f"{config}/{path.name}", "rows": len(rows), "bytes": 1, "sha256": "0"}]}
