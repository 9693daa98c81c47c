"""Answers from a retrieval with the context hidden: as an explicit mask, and as the plain method where none is."""

from pathlib import Path

import pytest
import torch

from builders.errors import SetupError
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Answer, Question
from eval_harness.methods.tuned import Blocked
from eval_harness.methods.variants import Variant
from eval_harness.models.hf import HfModel
from eval_harness.models.session import Session
from eval_harness.models.steps import marks_of
from eval_harness.probing.spans import token_spans
from tests.eval_harness.methods.checkpoints import TUNED, tuned, writing
from tests.eval_harness.specs import NQ

PASSAGES = [Passage(f"p{n}", f"T{n}", f"text {n} of some words", "random") for n in (1, 2, 3)]
INSTANCE = Instance("nq-1", NQ, "who?", ["x"], PASSAGES, [1], "c")
LIMIT = 60


@pytest.fixture(scope="module")
def model(marked_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> HfModel:
    return tuned(marked_folder, tmp_path_factory.mktemp("tuned") / "rta", "rta")


def question(passages: list[Passage], limit: int = LIMIT) -> Question:
    return Question(INSTANCE, passages, limit)


def script(model: HfModel, text: str) -> list[int]:
    """The tokens of a retrieval."""
    opens, closes = marks_of(model)
    return [opens, *model.tokenizer(text, add_special_tokens=False).input_ids, closes]


def answered(
    model: HfModel, method: Blocked | None, asked: Question, text: str, session: Session | None = None
) -> Answer:
    """The answer after a retrieval that the model is made to write; plain without a method."""
    by = method or TUNED["rta"]
    with writing(model, by.prompt(asked.instance, asked.passages).text, script(model, text)):
        (found,) = by.answer(session or Session(model), [asked])
    assert isinstance(found, Answer)
    return found


def masked(model: HfModel, asked: Question, output: list[int], hidden: set[int], n: int) -> list[int]:
    """Greedy tokens after an output, each from one whole pass: from its last mark on, `hidden` passages are masked."""
    prompt = TUNED["rta"].prompt(asked.instance, asked.passages)
    spans = token_spans(model.template.places(prompt.text), prompt.spans)
    ids = model.encode(prompt.text) + output
    first = len(ids) - 1
    for _ in range(n):
        mask = torch.full((len(ids), len(ids)), float("-inf")).triu(1)
        for at in hidden:
            start, end = spans[at]
            mask[first:, start:end] = float("-inf")
        with torch.inference_mode():
            logits = model.network(input_ids=torch.tensor([ids]), attention_mask=mask[None, None]).logits
        ids.append(int(logits[0, -1].argmax()))
        if ids[-1] in model.stops:
            return ids[first + 1 : -1]
    return ids[first + 1 :]


@pytest.mark.parametrize(
    ("variant", "text", "hidden"),
    [("rta", "copied", {0, 1, 2}), ("cci", "[2]", {0, 2}), ("cci", "[9]", {0, 1, 2}), ("cci", "", {0, 1, 2})],
)
def test_equals_an_explicit_mask(model: HfModel, variant: Variant, text: str, hidden: set[int]) -> None:
    found = answered(model, Blocked(variant), question(PASSAGES), text)
    written = script(model, text)
    n = LIMIT - len(written)
    wanted = masked(model, question(PASSAGES), written, hidden, n)
    assert found.generation.text == model.decode(written + wanted)
    assert found.generation.text != model.decode(written + masked(model, question(PASSAGES), written, set(), n))
    assert found.generation.n_new_tokens == len(written) + len(wanted)
    assert found.generation.truncated is (len(wanted) == n)
    assert set(found.steps_s or ()) == {"retrieval", "answer"}


@pytest.mark.parametrize("limit", [LIMIT, 9, 4])
def test_equals_plain_where_nothing_is_hidden(model: HfModel, limit: int) -> None:
    plain, blocked = (answered(model, by, question([], limit), "some") for by in (None, Blocked("rta")))
    assert blocked.generation == plain.generation
    assert blocked.kept == plain.kept == ["[?]"]


def test_equals_plain_where_no_retrieval_is_written(model: HfModel) -> None:
    (plain,) = TUNED["rta"].answer(Session(model), [question(PASSAGES)])
    (blocked,) = Blocked("rta").answer(Session(model), [question(PASSAGES)])
    assert isinstance(plain, Answer)
    assert isinstance(blocked, Answer)
    assert blocked.generation == plain.generation


def test_a_shared_beginning_changes_no_answer(model: HfModel) -> None:
    other = INSTANCE._replace(query="where?")
    prompts = [TUNED["rta"].prompt(one, PASSAGES).text for one in (INSTANCE, other)]
    shared = answered(model, Blocked("rta"), question(PASSAGES), "copied", Session(model, prompts))
    alone = answered(model, Blocked("rta"), question(PASSAGES), "copied")
    assert shared.generation.text == alone.generation.text
    assert shared.generation.n_cached_tokens > 100
    assert alone.generation.n_cached_tokens == 0


def test_what_is_retrieved_is_evidence(model: HfModel) -> None:
    text = "ID: 2\nTitle: T2\nContext: text 2 of some words\n"
    assert answered(model, Blocked("rta"), question(PASSAGES, 80), text).kept == ["p2"]
    assert answered(model, Blocked("cci"), question(PASSAGES), "[3, 1]").kept == ["p3", "p1"]


def test_what_cannot_hide_its_context_is_refused(marked_folder: Path, chat_folder: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer, MistralConfig, MistralForCausalLM

    Blocked("rta").check(tuned(marked_folder, tmp_path / "rta", "rta"))
    with pytest.raises(SetupError, match="was tuned without marks"):
        Blocked("rta").check(tuned(marked_folder, tmp_path / "unmarked", "rta", marks=False))
    with pytest.raises(SetupError, match="has no tokens <RETRIEVAL>"):
        Blocked("cci").check(tuned(chat_folder, tmp_path / "tokenless", "cci"))
    folder = tmp_path / "windows"
    AutoTokenizer.from_pretrained(marked_folder).save_pretrained(folder)
    config = MistralConfig(
        vocab_size=262,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        sliding_window=8,
    )
    MistralForCausalLM(config).save_pretrained(folder)
    with pytest.raises(SetupError, match=r"has windows or states of its own, .* use sft_rta"):
        Blocked("rta").check(tuned(folder, tmp_path / "tuned-windows", "rta"))
