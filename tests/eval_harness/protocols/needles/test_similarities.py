from pathlib import Path

import pytest
from rich.progress import Progress

from builders.errors import SetupError
from eval_harness.protocols.needles.encoding import Vectors
from eval_harness.protocols.needles.haystacks import Haystack
from eval_harness.protocols.needles.similarities import FILE, Line, measure, part_of, read_lines, write_lines
from tests.eval_harness.protocols.needles.known import BY_COSINE, KnownEmbedder, control, embedder_of, planted

HAYSTACKS = [
    planted("A", 0.8, 0),
    planted("A", 0.28, 100),
    planted("A", 0.6, 0, "inverted"),
    planted("A", 0.96, 50, needle="literal"),
    control("A", 0.0, 1),
]
ALONE = {("A", "one_hop"): 0.96, ("A", "literal"): 0.8}


def lines_of(
    folder: Path, embedder: KnownEmbedder, haystacks: list[Haystack], terms: dict[str, list[str]] | None = None
) -> list[Line]:
    with Progress(disable=True) as progress:
        vectors = Vectors(folder / "vectors", embedder)
        return measure(haystacks, embedder, vectors, terms or {}, (2, 9) if terms else (), progress)


def test_similarities_are_cosines(tmp_path: Path) -> None:
    """One of the vectors has length 5."""
    found = lines_of(tmp_path, embedder_of(HAYSTACKS, ALONE), [haystack for haystack, _ in HAYSTACKS])
    assert [one.similarity for one in found] == [0.8, 0.28, 0.6, 0.96, 0.0]
    assert {(one.to_one_hop, one.to_literal) for one in found} == {(0.96, 0.8)}
    assert [one.needle for one in found] == ["one_hop"] * 3 + ["literal", None]
    assert [one.baseline("literal") for one in found] == [0.8] * 5
    assert [one.depth for one in found] == [0, 100, 0, 50, None]
    assert {one.part for one in found} == {"whole"}
    assert found[-1].is_control


def test_each_text_is_encoded_once_and_kept(tmp_path: Path) -> None:
    embedder = embedder_of(HAYSTACKS, ALONE)
    texts = [haystack for haystack, _ in HAYSTACKS]
    first = lines_of(tmp_path, embedder, [*texts, texts[0]._replace(config="needles_256")])
    assert len(embedder.encoded) == len(set(embedder.encoded)) == 1 + 2 + 5
    again = embedder_of(HAYSTACKS, ALONE)
    assert lines_of(tmp_path, again, [*texts, texts[0]._replace(config="needles_256")]) == first
    assert again.encoded == []


def test_a_run_that_was_stopped_goes_on_to_the_same_vectors(tmp_path: Path) -> None:
    texts = [haystack for haystack, _ in HAYSTACKS]
    whole = lines_of(tmp_path / "whole", embedder_of(HAYSTACKS, ALONE), texts)
    lines_of(tmp_path / "stopped", embedder_of(HAYSTACKS, ALONE), texts)
    files = sorted((tmp_path / "stopped" / "vectors").glob("*/*.arrow"))
    kept = {path.name: path.read_bytes() for path in files}
    files[0].unlink()
    embedder = embedder_of(HAYSTACKS, ALONE)
    assert lines_of(tmp_path / "stopped", embedder, texts) == whole
    assert {path.name: path.read_bytes() for path in files} == kept
    assert 0 < len(embedder.encoded) < 8


def test_an_expanded_question_is_compared_with_needle_and_haystack(tmp_path: Path) -> None:
    embedder = embedder_of(HAYSTACKS, ALONE)
    terms = {"A": ["bell", "book", "candle"]}
    embedder._vectors = {
        **embedder._vectors,
        "A bell, book": BY_COSINE[0.0],
        "A bell, book, candle": BY_COSINE[0.8],
    }
    found = lines_of(tmp_path, embedder, [haystack for haystack, _ in HAYSTACKS], terms)
    assert [one.terms for one in found] == [0] * 5 + [2] * 5 + [9] * 5
    assert {(one.terms, one.added) for one in found} == {(0, 0), (2, 2), (9, 3)}
    assert {one.terms: one.query_tokens for one in found} == {
        0: 1,
        2: len("A bell, book"),
        9: len("A bell, book, candle"),
    }
    # (0, 1) against (.8, .6), (.28, .96), (3, 4)/5, (.96, .28), (0, 1)
    assert [one.similarity for one in found[5:10]] == [0.6, 0.96, 0.8, 0.28, 1.0]
    assert (found[5].to_one_hop, found[5].to_literal) == (0.28, 0.6)


def test_a_question_past_the_limit_is_counted_as_cut(tmp_path: Path) -> None:
    haystacks = [planted("A", 0.8, 0), planted("A", 0.8, 0, needle="literal"), control("A", 0.0, 1)]
    embedder = embedder_of(haystacks, ALONE)
    embedder.limit = 400
    embedder._vectors = {**embedder._vectors, f"A {'z' * 398}": BY_COSINE[0.8]}
    with Progress(disable=True) as progress:
        vectors = Vectors(tmp_path, embedder)
        found = measure([one for one, _ in haystacks], embedder, vectors, {"A": ["z" * 500]}, (1,), progress)
    assert [one.query_cut for one in found] == [False] * 3 + [True] * 3
    assert found[-1].query_tokens == 502


@pytest.mark.parametrize(
    ("read", "part"),
    [
        (30, "whole"),
        (29, "cut"),
        (20, "cut"),
        (19, "needle_cut"),
        (11, "needle_cut"),
        (10, "needle_past"),
        (0, "needle_past"),
    ],
)
def test_what_of_a_haystack_is_read(read: int, part: str) -> None:
    """The needle is characters 10 to 20 of 30."""
    haystack, _ = planted("A", 0.8, 0)
    assert haystack.planted is not None
    short = haystack._replace(text="x" * 30, planted=haystack.planted._replace(start=10, end=20))
    assert part_of(short, read) == part


def test_a_control_is_whole_or_cut() -> None:
    haystack, _ = control("A", 0.0, 1)
    assert part_of(haystack, len(haystack.text)) == "whole"
    assert part_of(haystack, 0) == "cut"


def test_needles_past_the_limit_are_not_in_the_vector(tmp_path: Path) -> None:
    """Two haystacks that begin alike are the same to the model, and encoded once."""
    haystacks = [planted("A", 0.8, depth)[0] for depth in (90, 100)] + [planted("A", 0.8, 0, needle="literal")[0]]
    haystacks += [control("A", 0.0, 1)[0]]
    haystacks = [haystack._replace(text=haystack.text.partition(": ")[2]) for haystack in haystacks]
    for at, haystack in enumerate(haystacks[:3]):
        assert haystack.planted is not None
        start = haystack.planted.depth
        haystacks[at] = haystack._replace(planted=haystack.planted._replace(start=start, end=start + 12))
    vectors = {"x" * 90: (0.6, 0.8), haystacks[2].text[:90]: (0.8, 0.6), "z" * 90: (0.0, 1.0)}
    vectors |= {"A": (1.0, 0.0), "one_hop of A": (0.96, 0.28), "literal of A": (0.8, 0.6)}
    for haystack in haystacks[:3]:
        assert haystack.planted is not None
    embedder = KnownEmbedder(vectors, limit=90)
    found = lines_of(tmp_path, embedder, haystacks)
    assert [one.part for one in found] == ["needle_past", "needle_past", "cut", "cut"]
    assert found[0].similarity == found[1].similarity == 0.6
    assert sum(side == "passage" and text.startswith("x") for side, text in embedder.encoded) == 1


def test_lines_are_kept_as_they_are(tmp_path: Path) -> None:
    found = lines_of(tmp_path, embedder_of(HAYSTACKS, ALONE), [haystack for haystack, _ in HAYSTACKS])
    write_lines(found, tmp_path)
    assert read_lines(tmp_path) == found


def test_a_run_that_is_not_finished_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="not finished"):
        read_lines(tmp_path)
    (tmp_path / FILE).write_bytes(b"nothing")
    with pytest.raises(SetupError, match="cannot be read"):
        read_lines(tmp_path)
