from pathlib import Path

import numpy as np
import pytest

from builders.errors import SetupError
from builders.retrieve.encoders import Text, encoder, files_digest
from tests.builders.retrieve.models import contriever, dpr_pair

SHORT = Text("", "short")
LONG = Text("A title", "word after word " * 60)


@pytest.mark.parametrize("which", ["minilm", "contriever", "dpr"])
def test_a_vector_does_not_depend_on_its_batch(tmp_path: Path, which: str) -> None:
    """Padding is not counted."""
    model = {
        "minilm": lambda: "bundled:minilm",
        "contriever": lambda: str(contriever(tmp_path)),
        "dpr": lambda: str(dpr_pair(tmp_path)[1]),
    }[which]()
    made = encoder(model, "passage", "float32", threads=1)
    alone, together = made.encode([SHORT]), made.encode([LONG, SHORT, LONG])
    assert alone.dtype == together.dtype == np.float32
    assert np.abs(alone[0] - together[1]).max() < 1e-5
    assert np.abs(together[0] - together[1]).max() > 1e-2


def test_contriever_is_the_mean_over_real_tokens(tmp_path: Path) -> None:
    """Against the model itself: the mean of the last layer over all tokens of one text, which has no padding."""
    import torch
    from transformers import AutoTokenizer, BertModel

    folder = contriever(tmp_path)
    tokens = AutoTokenizer.from_pretrained(folder)("A title some words here", return_tensors="pt")
    with torch.inference_mode():
        want = BertModel.from_pretrained(folder).eval()(**tokens).last_hidden_state[0].mean(dim=0).numpy()
    found = encoder(str(folder), "passage", "float32", 1).encode([Text("A title", "some words here")])[0]
    assert found == pytest.approx(want, abs=1e-5)
    assert np.linalg.norm(found) != pytest.approx(1, abs=1e-2)  # compared by inner product, not by cosine


def test_dpr_takes_title_and_text_as_a_pair_and_a_question_alone(tmp_path: Path) -> None:
    """Against the models themselves: the first token's vector."""
    import torch
    from transformers import AutoTokenizer, DPRContextEncoder, DPRQuestionEncoder

    question, passage = dpr_pair(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(passage)
    with torch.inference_mode():
        pair = tokenizer("A title", "some words", return_tensors="pt")
        want = DPRContextEncoder.from_pretrained(passage).eval()(**pair).pooler_output[0].numpy()
        alone = tokenizer("who is it", return_tensors="pt")
        asked = DPRQuestionEncoder.from_pretrained(question).eval()(**alone).pooler_output[0].numpy()
    assert encoder(str(passage), "passage", "float32", 1).encode([Text("A title", "some words")])[0] == pytest.approx(
        want, abs=1e-5
    )
    assert encoder(str(question), "query", "float32", 1).encode_distinct(["who is it"])["who is it"] == pytest.approx(
        asked, abs=1e-5
    )


def test_cosine_models_give_vectors_of_length_one() -> None:
    for dtype in ("float32", "bfloat16"):
        vectors = encoder("bundled:minilm", "passage", dtype, 1).encode([SHORT, LONG])
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_bfloat16_is_near_float32() -> None:
    texts = [SHORT, LONG, Text("Ada Lovelace", "She wrote the first program for the Analytical Engine.")]
    full, half = (encoder("bundled:minilm", "passage", dtype, 1).encode(texts) for dtype in ("float32", "bfloat16"))
    assert (full * half).sum(axis=1).min() >= 0.999


def test_the_order_of_queries_changes_no_vector() -> None:
    made = encoder("bundled:minilm", "query", "float32", 1)
    queries = [f"query number {n} " + "and more " * (n % 7) for n in range(40)]
    one, other = made.encode_distinct(queries), made.encode_distinct([*reversed(queries), queries[3]])
    assert all((one[query] == other[query]).all() for query in queries)
    assert made.encode_distinct([]) == {}


def test_the_digest_tells_number_type_side_and_files_apart(tmp_path: Path) -> None:
    folder = contriever(tmp_path)
    digests = [encoder(str(folder), *what, 1).digest for what in (("query", "float32"), ("passage", "float32"))]
    digests.append(encoder(str(folder), "passage", "bfloat16", 1).digest)
    before = files_digest(folder)
    config = folder / "config.json"
    config.write_text(config.read_text() + " ")
    digests.append(encoder(str(folder), "passage", "float32", 1).digest)
    assert len(set(digests)) == 4
    assert files_digest(folder) != before


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"config\.json"):
        encoder(str(tmp_path), "passage", "float32", 1)
