"""Real encoders: what they read of a text, their prompts, and that a vector is of its text alone."""

from pathlib import Path

import numpy as np
import pytest

from builders.errors import SetupError
from eval_harness.protocols.needles.encoding import BLOCK, SentenceEmbedder, Vectors, load_embedder, unit
from tests.builders.retrieve.models import contriever, dpr_pair

PLAIN = {"query": None, "passage": None}


@pytest.fixture(scope="module")
def minilm() -> SentenceEmbedder:
    return load_embedder("bundled:minilm", "float32", PLAIN, None)  # type: ignore[arg-type]


def test_minilm_reads_256_tokens(minilm: SentenceEmbedder) -> None:
    """254 words of one token each, and two special ones."""
    assert minilm.limit == 256
    short, long = " ".join(["word"] * 254), " ".join(["word"] * 300)
    assert minilm.readings("passage", [short, long]) == [
        (256, len(short), minilm.readings("passage", [short])[0].key),
        (302, len(short), minilm.readings("passage", [short])[0].key),
    ]


def test_what_lies_past_the_limit_changes_no_vector(minilm: SentenceEmbedder) -> None:
    """Encoded one by one by the model, not taken for equal before."""
    head = " ".join(["word"] * 254)
    texts = [f"{head} Tove lives beside the tower.", f"{head} nothing of the kind at all.", f"Tove. {head}"]
    first, second, other = (minilm.encode("passage", [text], 256)[0] for text in texts)
    assert np.abs(first - second).max() == 0
    assert np.abs(first - other).max() > 1e-3
    readings = minilm.readings("passage", texts)
    assert readings[0].key == readings[1].key != readings[2].key
    assert texts[0][: readings[0].characters] == head


def test_the_characters_read_end_with_a_token(minilm: SentenceEmbedder) -> None:
    """A word of several tokens may be cut inside; a prompt takes room of the text."""
    text = " ".join(["untranslatability"] * 100)
    (reading,) = minilm.readings("passage", [text])
    assert 0 < reading.characters < len(text)
    cut = minilm.readings("passage", [text[: reading.characters]])[0]
    assert cut.tokens == 256
    prompted = load_embedder("bundled:minilm", "float32", {"query": "q: ", "passage": "one two three: "}, None)
    assert prompted.readings("passage", [" ".join(["word"] * 254)])[0].characters == len(" ".join(["word"] * 250))


def test_a_vector_that_is_not_finite_is_an_error(minilm: SentenceEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = np.array([[1.0, 0.0], [float("nan"), 0.0]])
    monkeypatch.setattr(minilm._model, "encode_document", lambda *texts, **options: bad)
    says = r"encoder bundled:minilm gave a vector with NaN or infinity for the second text \(1 of 2 texts\)"
    with pytest.raises(SetupError, match=says):
        minilm.encode("passage", ["the first text", "the second text"], 256)


def test_prompts_are_put_before_texts(minilm: SentenceEmbedder) -> None:
    prompted = load_embedder("bundled:minilm", "float32", {"query": "query: ", "passage": None}, None)
    assert (prompted.prompt("query"), prompted.prompt("passage")) == ("query: ", "")
    found = prompted.encode("query", ["who is it"], 256)[0]
    assert found == pytest.approx(minilm.encode("query", ["query: who is it"], 256)[0], abs=1e-6)
    assert np.abs(found - minilm.encode("query", ["who is it"], 256)[0]).max() > 1e-3
    assert prompted.digest != minilm.digest


def test_a_models_own_prompts_are_used_by_side(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer, models

    word = models.Transformer(str(contriever(tmp_path)))
    model = SentenceTransformer(modules=[word, models.Pooling(word.get_embedding_dimension())])
    model.prompts = {"query": "ask: ", "document": "tell: "}
    model.save(str(tmp_path / "own"))
    own = load_embedder(str(tmp_path / "own"), "float32", PLAIN, None)  # type: ignore[arg-type]
    none = load_embedder(str(tmp_path / "own"), "float32", {"query": "", "passage": ""}, None)
    assert (own.prompt("query"), own.prompt("passage")) == ("ask: ", "tell: ")
    assert (none.prompt("query"), none.prompt("passage")) == ("", "")
    for side, prompt in (("query", "ask: "), ("passage", "tell: ")):
        found = own.encode(side, ["some words"], 64)[0]  # type: ignore[arg-type]
        assert found == pytest.approx(none.encode(side, [prompt + "some words"], 64)[0], abs=1e-5)  # type: ignore[arg-type]
    assert own.describe()["passage_prompt"] == "tell: "


def test_a_vector_does_not_depend_on_its_batch(tmp_path: Path, minilm: SentenceEmbedder) -> None:
    """Padding is not counted, and a block of texts gives what each alone does."""
    texts = ["short", *(f"text {n} " + "and more " * (3 * n) for n in range(BLOCK))]
    readings = dict(zip(texts, minilm.readings("passage", texts), strict=True))
    vectors = Vectors(tmp_path, minilm)
    done: list[int] = []
    vectors.fill("passage", readings, done.append)
    assert sum(done) == len(texts)
    alone = unit(np.concatenate([minilm.encode("passage", [text], 256) for text in texts[::9]]))
    assert np.abs(vectors.of("passage", texts[::9]) - alone).max() < 1e-5


def test_a_model_without_cosine_gives_vectors_of_length_one_too(tmp_path: Path) -> None:
    made = load_embedder(str(contriever(tmp_path)), "float32", PLAIN, None)  # type: ignore[arg-type]
    vectors = Vectors(tmp_path / "kept", made)
    vectors.fill("query", {"a b": made.readings("query", ["a b"])[0]}, lambda done: None)
    assert np.linalg.norm(made.encode("query", ["a b"], 64)[0]) != pytest.approx(1, abs=1e-2)
    assert np.linalg.norm(vectors.of("query", ["a b"])[0]) == pytest.approx(1, abs=1e-12)


def test_half_of_a_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="sentence-transformers model"):
        load_embedder(str(dpr_pair(tmp_path)[0]), "float32", PLAIN, None)  # type: ignore[arg-type]


def test_a_vector_of_zeros_stays_one() -> None:
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8], [0.0, 0.0]]
