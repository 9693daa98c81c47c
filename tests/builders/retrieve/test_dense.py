from collections.abc import Sequence
from pathlib import Path
from threading import current_thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.config import RetrieverSpec
from builders.errors import SetupError
from builders.retrieve import dense, embeddings
from builders.retrieve.dense import Vectors
from builders.retrieve.embeddings import read_vectors, write_vectors
from builders.retrieve.encoders import Encoder, SentenceEncoder, Text
from tests.builders.retrieve.indexed import indexed, over
from tests.builders.retrieve.models import contriever, dpr_pair
from tests.builders.small_corpus import page, small_corpus

PAGES = [
    page("1", "Volcano", "A volcano throws out lava and ash."),
    page("2", "Bread", "Bread is baked from flour, water and yeast. " * 8),
    page("3", "Violin", "The violin has four strings and is played with a bow."),
]


def written(folder: Path, *files: tuple[list[int], list[list[float]]]) -> Path:
    """Files of vectors with their rows."""
    folder.mkdir(exist_ok=True)
    with (folder / "rows.bin").open("wb") as rows:
        for n, (numbers, vectors) in enumerate(files):
            write_vectors(folder / f"{n:07}.arrow", np.array(vectors, dtype=np.float32))
            rows.write(np.array(numbers, dtype="<i8").tobytes())
    return folder


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_passage_about_it_comes_first(tmp_path: Path, dtype: str) -> None:
    made = indexed(tmp_path, PAGES, "dense", words=40, model="bundled:minilm", k=2, dtype=dtype)
    found = made.hits("Which instrument has strings and a bow?", "eruption of hot melted rock", "how is bread made")
    assert [len(hits) for hits in found] == [2, 2, 2]
    titles = [made.context.corpus.passage(hits[0].row).title for hits in found]
    assert titles == ["Violin", "Volcano", "Bread"]


def test_queries_without_a_word_to_look_for_find_nothing(tmp_path: Path) -> None:
    """Queries without a word to look for."""
    made = indexed(tmp_path, PAGES, "dense", model="bundled:minilm")
    assert [len(hits) for hits in made.hits("", "the of", "??", "violin")] == [0, 0, 0, 3]
    assert made.hits("??") == [[]]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_workers_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    """One, two and four workers give the same vectors and scores; each batch is encoded by one thread of torch."""
    import torch

    seen = set()
    encode = SentenceEncoder._vectors

    def watched(self: SentenceEncoder, texts: Sequence[Text]) -> np.ndarray:
        seen.add((torch.get_num_threads(), current_thread().name.partition("_")[0]))
        return encode(self, texts)

    monkeypatch.setattr(SentenceEncoder, "_vectors", watched)
    monkeypatch.setattr(embeddings, "BATCH", 12)
    words = "ash bow string yeast rock flour lava music oven water".split()
    pages = [page(f"n{n}", f"T{n}", " ".join(words[(n * k) % 10] for k in range(3 + n * 7 % 90))) for n in range(48)]
    corpus = small_corpus(tmp_path, [*PAGES, *pages], words=40)
    found = []
    before = torch.get_num_threads()
    for workers in (1, 2, 4):
        torch.set_num_threads(max(2, workers))  # what the process would use otherwise
        (tmp_path / str(workers)).mkdir()
        made = over(corpus, tmp_path / str(workers), "dense", workers, model="bundled:minilm", dtype=dtype)
        files = {path.name: path.read_bytes() for path in made.folder.iterdir()}
        found.append((files, made.hits("music with a bow", "bread", "rock and lava")))
    torch.set_num_threads(before)
    assert found[0] == found[1] == found[2]
    assert len(found[0][0]) > 6
    assert {threads for threads, _ in seen} == {1}
    assert {name.startswith("ThreadPool") for _, name in seen} == {True, False}  # the first, and the others


class Broken(Encoder):
    """An encoder that gives NaN or infinity for one text."""

    digest, folder, dtype, side, name = "b" * 64, Path(), "float32", "passage", "broken/model"
    device = "cpu"

    def __init__(self, value: float, of: str) -> None:
        self.threads, self.value, self.of = 1, value, of

    def _vectors(self, texts: Sequence[Text]) -> np.ndarray:
        return np.array([[self.value if self.of in text.joined() else 1.0] for text in texts], dtype=np.float32)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_not_finite_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: float) -> None:
    """Nothing is ranked: the error names the encoder, and the passage or the query."""
    (tmp_path / "two").mkdir()
    monkeypatch.setattr(dense, "encoder", lambda *_: Broken(value, "four strings"))
    with pytest.raises(SetupError, match="encoder broken/model gave a vector with NaN or infinity for passage 3:0"):
        indexed(tmp_path, PAGES, "dense", model="x")
    monkeypatch.setattr(dense, "encoder", lambda *_: Broken(value, "bread made"))
    made = over(small_corpus(tmp_path / "two", PAGES), tmp_path / "two", "dense", model="x")
    with pytest.raises(SetupError, match="encoder broken/model gave a vector with NaN or infinity for query 'how"):
        made.hits("who plays", "how is bread made")


def test_a_kept_vector_that_is_not_finite_is_an_error(tmp_path: Path) -> None:
    """Also one that an earlier version left in the cache, by the id of its passage."""
    corpus = small_corpus(tmp_path, PAGES)
    folder = written(tmp_path / "v", ([0, 1, 2], [[1.0], [np.nan], [3.0]]))
    asked = np.array([[1.0]], dtype=np.float32)
    with pytest.raises(SetupError, match="the vector of passage 2:0 has NaN"):
        list(Vectors(folder, corpus).nearest(asked, 1))
    with pytest.raises(SetupError, match="the vector of a query has NaN"):
        list(Vectors(written(tmp_path / "w", ([0], [[1.0]]))).nearest(asked * np.nan, 1))
    with pytest.raises(SetupError, match="an inner product of two vectors is not finite"):
        list(Vectors(written(tmp_path / "x", ([0], [[3e38]]))).nearest(asked * 3e38, 1))


def test_every_row_is_in_the_index_once(tmp_path: Path) -> None:
    """Rows number the passages, and each stands in one of the two streams, so no id can be there twice."""
    made = indexed(tmp_path, PAGES, "dense", words=20, model=str(contriever(tmp_path)), k=100)
    rows = np.fromfile(made.folder / "rows.bin", dtype="<i8")
    assert sorted(rows.tolist()) == list(range(len(made.context.corpus)))
    assert sorted(made.rows("bread")) == sorted(rows.tolist())


def test_a_dpr_pair(tmp_path: Path) -> None:
    """Scores are inner products of the two models' vectors."""
    question, passage = dpr_pair(tmp_path)
    made = indexed(tmp_path, PAGES, "dense", model=str(passage), query_model=str(question), dtype="float32")
    asked = dense.query_encoder(made.context.spec).encode_distinct(["who plays"])["who plays"]
    rows, vectors = np.fromfile(made.folder / "rows.bin", "<i8"), read_vectors(made.folder / "0000000.arrow")
    want = dict(zip(rows.tolist(), (vectors @ asked).tolist(), strict=True))
    assert {hit.row: hit.score for hit in made.hits("who plays")[0]} == pytest.approx(want, abs=1e-4)
    identity = made.retriever.identity(made.context.spec)
    assert identity["model"] != identity["query_model"]
    assert identity["dtype"] == "float32"


def test_halves_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="16 numbers and model gives 384"):
        indexed(tmp_path, PAGES, "dense", model="bundled:minilm", query_model=str(contriever(tmp_path))).hits("bread")


def test_a_dense_retriever_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="needs a model"):
        indexed(tmp_path, PAGES, "dense")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_nearest_is_the_head_of_the_full_order(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Any split into files, rows in any order, many ties: the k best by (-score, row), as a full sort gives them."""
    values = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=120))
    rows = data.draw(st.permutations(range(len(values))))
    cut, k = data.draw(st.integers(1, len(values))), data.draw(st.integers(1, 8))
    parts = [(rows[i : i + cut], [[values[r], 1.0] for r in rows[i : i + cut]]) for i in range(0, len(values), cut)]
    folder = written(tmp_path_factory.mktemp("vectors"), *parts)
    found = next(Vectors(folder).nearest(np.array([[2.0, 0.5]], dtype=np.float32), k))
    want = sorted(((2 * value + 0.5, row) for row, value in enumerate(values)), key=lambda p: (-p[0], p[1]))[:k]
    assert [(hit.score, hit.row) for hit in found] == want


def test_ties_at_the_border_are_cut_in_corpus_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Far more vectors tie at the border than are fetched beyond it, over several groups of files."""
    monkeypatch.setattr(dense, "_FILES", 2)
    one = [[0.5 + n * 6e-8, 0.0] for n in range(500)]  # equal after rounding, and the later the larger before it
    folder = written(tmp_path / "v", *((list(range(n * 500, n * 500 + 500)), one) for n in range(5)))
    queries = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    assert [[hit.row for hit in hits] for hits in Vectors(folder).nearest(queries, 3)] == [[0, 1, 2]] * 2


def test_the_vector_at_a_row(tmp_path: Path) -> None:
    folder = written(tmp_path / "v", ([0, 4], [[1.0], [2.0]]), ([7], [[3.0]]), ([9, 11], [[4.0], [5.0]]))
    vectors = Vectors(folder)
    assert [vectors.at(row).tolist() for row in (0, 4, 7, 9, 11)] == [[1.0], [2.0], [3.0], [4.0], [5.0]]


def test_an_index_outlives_the_cache(tmp_path: Path) -> None:
    import shutil

    made = indexed(tmp_path, PAGES, "dense", model=str(contriever(tmp_path)))
    before = made.hits("bread")
    shutil.rmtree(made.context.cache)
    assert made.hits("bread") == before


def test_identity_needs_no_index() -> None:
    identity = dense.Dense().identity(RetrieverSpec(kind="dense", model="bundled:minilm"))
    assert {"sentence-transformers", "torch", "transformers", "model", "dtype"} <= identity.keys()
