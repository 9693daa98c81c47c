"""Similarities of haystacks and questions: one line per haystack and expansion, in a file of the run."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from rich.progress import Progress

from builders.errors import SetupError
from builders.files import replacing
from eval_harness.protocols.needles.encoding import Embedder, Reading, Side, Vectors
from eval_harness.protocols.needles.expansion import Expansions, expanded
from eval_harness.protocols.needles.haystacks import NEEDLES, Haystack, Needle

FILE = "similarities.parquet"
DECIMALS = 6

Part = Literal["whole", "cut", "needle_cut", "needle_past"]

SIMILARITIES = pa.schema(
    [
        ("config", pa.string()),
        ("id", pa.string()),
        ("category", pa.string()),
        ("question", pa.string()),
        ("needle", pa.string()),  # this field and the next three are null in a control
        ("order", pa.string()),
        ("depth", pa.int32()),
        ("place", pa.float64()),
        ("part", pa.string()),
        ("tokens", pa.int32()),
        ("terms", pa.int32()),
        ("added", pa.int32()),
        ("query_tokens", pa.int32()),
        ("query_cut", pa.bool_()),
        ("similarity", pa.float64()),
        *((f"to_{needle}", pa.float64()) for needle in NEEDLES),
    ]
)


class Line(NamedTuple):
    """A haystack under an expansion of its question by at most `terms` terms, `added` of them; one row of SIMILARITIES.

    `part` is the part of the text that is read: all (`whole`), all of the needle (`cut`), a part of the needle
    (`needle_cut`), or none of it (`needle_past`); `tokens` are the encoder's, read or not. `similarity` is the
    cosine of question and haystack, `to_one_hop` and `to_literal` those of the question and its needles alone, in
    default order; all are rounded to six decimals, since later ones depend on batch and dtype.
    """

    config: str
    id: str
    category: str
    question: str
    needle: Needle | None
    order: str | None
    depth: int | None
    place: float | None
    part: Part
    tokens: int
    terms: int
    added: int
    query_tokens: int
    query_cut: bool
    similarity: float
    to_one_hop: float
    to_literal: float

    @property
    def is_control(self) -> bool:
        """Whether the haystack is a control, without a needle."""
        return self.needle is None

    def baseline(self, needle: Needle) -> float:
        """The cosine of the question and a needle alone, in default order."""
        return self.to_one_hop if needle == "one_hop" else self.to_literal


class _Encoded:
    """Texts with their embeddings and readings."""

    def __init__(self, embedder: Embedder, vectors: Vectors, progress: Progress) -> None:
        self._embedder, self._vectors, self._progress = embedder, vectors, progress
        self.readings: dict[tuple[Side, str], Reading] = {}

    def fill(self, side: Side, texts: Iterable[str], says: str) -> None:
        distinct = list(dict.fromkeys(texts))
        found = dict(zip(distinct, self._embedder.readings(side, distinct), strict=True))
        self.readings |= {(side, text): reading for text, reading in found.items()}
        bar = self._progress.add_task(says, total=len(found))
        self._vectors.fill(side, found, lambda done: self._progress.advance(bar, done))

    def cosine(self, query: str, texts: Sequence[str]) -> list[float]:
        found = self._vectors.of("passage", texts) @ self._vectors.of("query", [query])[0]
        return [round(float(value), DECIMALS) for value in found]


def measure(
    haystacks: Sequence[Haystack],
    embedder: Embedder,
    vectors: Vectors,
    expansions: Expansions,
    sizes: Sequence[int],
    progress: Progress,
) -> list[Line]:
    """The lines of haystacks, without expansion and then with each number of terms."""
    needles = default_needles(haystacks)
    encoded = _Encoded(embedder, vectors, progress)
    queries = {
        (question, n): expanded(question, expansions.get(question, ()), n) for question in needles for n in (0, *sizes)
    }
    encoded.fill("query", queries.values(), "questions")
    encoded.fill("passage", (text for own in needles.values() for text in own.values()), "needles")
    encoded.fill("passage", (haystack.text for haystack in haystacks), "haystacks")
    by_question: dict[str, list[Haystack]] = {}
    for haystack in haystacks:
        by_question.setdefault(haystack.question, []).append(haystack)
    lines = []
    for n in (0, *sizes):
        for question, own in by_question.items():
            query = queries[question, n]
            to_needles = encoded.cosine(query, [needles[question][needle] for needle in NEEDLES])
            near = encoded.cosine(query, [haystack.text for haystack in own])
            asked = encoded.readings["query", query]
            for haystack, similarity in zip(own, near, strict=True):
                planted = haystack.planted
                read = encoded.readings["passage", haystack.text]
                lines.append(
                    Line(
                        haystack.config,
                        haystack.id,
                        haystack.category,
                        question,
                        planted.needle if planted else None,
                        planted.order if planted else None,
                        planted.depth if planted else None,
                        haystack.place,
                        part_of(haystack, read.characters),
                        read.tokens,
                        n,
                        len(expansions.get(question, ())[:n]),
                        asked.tokens,
                        asked.characters < len(query),
                        similarity,
                        *to_needles,
                    )
                )
    return lines


def part_of(haystack: Haystack, read: int) -> Part:
    """The part of a haystack within its first `read` characters."""
    if read >= len(haystack.text):
        return "whole"
    if haystack.planted is None or read >= haystack.planted.end:
        return "cut"
    return "needle_cut" if read > haystack.planted.start else "needle_past"


def default_needles(haystacks: Sequence[Haystack]) -> dict[str, dict[Needle, str]]:
    """Each question's needles in default order."""
    found: dict[str, dict[Needle, str]] = {}
    for haystack in haystacks:
        if haystack.planted and haystack.planted.order == "default":
            text = haystack.text[haystack.planted.start : haystack.planted.end]
            found.setdefault(haystack.question, {})[haystack.planted.needle] = text
    return found


def write_lines(lines: Sequence[Line], run: Path) -> None:
    """Writes lines into a run folder, atomically."""
    columns: Mapping[str, list] = {name: [getattr(line, name) for line in lines] for name in SIMILARITIES.names}
    with replacing(run / FILE) as partial:
        pq.write_table(pa.table(columns, schema=SIMILARITIES), partial, compression="zstd")


def read_lines(run: Path) -> list[Line]:
    """The lines of a finished run; SetupError if it is not finished."""
    path = run / FILE
    if not path.is_file():
        raise SetupError(f"{run} has no {FILE}: the run is not finished; resume with: icr2 needles ... --out {run}")
    try:
        return [Line(**row) for row in pq.read_table(path, schema=SIMILARITIES).to_pylist()]
    except (pa.ArrowException, OSError, TypeError) as error:
        raise SetupError(f"{path} cannot be read ({str(error).splitlines()[0]}); delete it and rerun") from None
