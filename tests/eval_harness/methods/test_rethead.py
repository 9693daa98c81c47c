"""Answers from what a head chooses: as under an explicit mask, or asked again with that alone."""

from pathlib import Path
from typing import Any

import pytest
import torch

from builders.errors import SetupError
from eval_harness.conditions.ranking import Retrieval
from eval_harness.data.dataset import Instance, Passage, prompt_over
from eval_harness.methods.base import Answer, Question
from eval_harness.methods.head.files import read_head, write_head
from eval_harness.methods.head.places import places_of
from eval_harness.methods.head.scorer import Shape, new_head, scores_of
from eval_harness.methods.registry import settings
from eval_harness.methods.rethead import RetHead
from eval_harness.models.fake import FakeModel
from eval_harness.models.hf import HfModel
from eval_harness.models.session import Session
from eval_harness.probing.spans import token_spans
from tests.eval_harness.conftest import save_tokenizer
from tests.eval_harness.methods.checkpoints import tuned
from tests.eval_harness.specs import NQ

PASSAGES = [Passage(f"p{n}", f"T{n}", f"text {n} of some words", "random") for n in range(5)]
INSTANCE = Instance("nq-1", NQ, "who?", ["x"], PASSAGES, [1], "c")
LIMIT = 24


@pytest.fixture(scope="module")
def model(chat_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> HfModel:
    folder = tmp_path_factory.mktemp("tuned") / "head"
    found = tuned(chat_folder, folder, "head")
    write_head(folder, new_head(Shape(32, 16), seed=1).state_dict(), "mlp")
    return found


def asked(model: HfModel, method: RetHead, passages: list[Passage] = PASSAGES) -> Answer:
    method.check(model)
    (found,) = method.answer(Session(model), [Question(INSTANCE, passages, LIMIT)])
    assert isinstance(found, Answer)
    return found


def ranked(model: HfModel) -> list[int]:
    """Places of the passages, the highest score first, from the states of the whole prompt."""
    prompt = prompt_over(INSTANCE, PASSAGES)
    question, passages = places_of(model.template, prompt, INSTANCE.query)
    ids = torch.tensor([model.encode(prompt.text)])
    with torch.inference_mode():
        states = model.network(input_ids=ids, output_hidden_states=True).hidden_states[-1][0]
        scores = scores_of(read_head(model.folder), states, question, passages)
    return [int(place) for place in scores.argsort(descending=True)]


def masked(model: HfModel, hidden: set[int]) -> str:
    """Greedy tokens from whole passes, in which what comes after the context is masked by hand."""
    prompt = prompt_over(INSTANCE, PASSAGES)
    spans = token_spans(model.template.places(prompt.text), prompt.spans)
    ids = model.encode(prompt.text)
    n = len(ids)
    while len(ids) < n + LIMIT:
        mask = torch.full((len(ids), len(ids)), float("-inf")).triu(1)
        for place in hidden:
            start, end = spans[place]
            mask[spans[-1][1] :, start:end] = float("-inf")
        with torch.inference_mode():
            logits = model.network(input_ids=torch.tensor([ids]), attention_mask=mask[None, None]).logits
        ids.append(int(logits[0, -1].argmax()))
        if ids[-1] in model.stops:
            return model.decode(ids[n:-1])
    return model.decode(ids[n:])


@pytest.mark.parametrize("k", [1, 2, 4])
def test_what_is_not_chosen_is_hidden_as_by_an_explicit_mask(model: HfModel, k: int) -> None:
    chosen = {*ranked(model)[:k]}
    found = asked(model, RetHead(k))
    assert found.kept == [f"p{place}" for place in sorted(chosen)]
    assert found.generation.text == masked(model, {*range(5)} - chosen)
    assert found.generation.text != masked(model, set())
    assert found.generation.n_prompt_tokens == model.count(prompt_over(INSTANCE, PASSAGES).text)


@pytest.mark.parametrize("k", [5, 50])
def test_with_k_passages_or_fewer_nothing_is_hidden(model: HfModel, k: int) -> None:
    found = asked(model, RetHead(k))
    (plain,) = model.generate([prompt_over(INSTANCE, PASSAGES).text], LIMIT)
    assert found.kept == [passage.pid for passage in PASSAGES]
    assert found.generation == plain


@pytest.mark.parametrize("reprompt", [False, True])
@pytest.mark.parametrize("n", [0, 1])
def test_one_passage_or_none(model: HfModel, n: int, reprompt: bool) -> None:
    found = asked(model, RetHead(2, reprompt), PASSAGES[:n])
    (plain,) = model.generate([prompt_over(INSTANCE, PASSAGES[:n]).text], LIMIT)
    assert found.kept == [passage.pid for passage in PASSAGES[:n]]
    assert found.generation == plain


def test_asked_again_the_model_reads_what_was_chosen_alone(model: HfModel) -> None:
    chosen = sorted(ranked(model)[:2])
    found = asked(model, RetHead(2, reprompt=True))
    (wanted,) = model.generate([prompt_over(INSTANCE, [PASSAGES[place] for place in chosen]).text], LIMIT)
    assert found.kept == [f"p{place}" for place in chosen]
    assert found.generation == wanted
    assert list(found.steps_s or ()) == ["retrieval", "answer"]


def test_names() -> None:
    found = settings(["rethead@4", "rethead@2+reprompt"], Retrieval())
    assert [one.name for one in found] == ["rethead@4", "rethead@2+reprompt"]
    assert [one.method.name for one in found] == ["rethead@4", "rethead@2+reprompt"]
    assert all(one.names_evidence for one in found)
    with pytest.raises(SetupError, match="rethead@K"):
        settings(["rethead@0"], Retrieval())


def test_models_without_a_head_are_refused(chat_folder: Path, tmp_path: Path) -> None:
    fake: Any = FakeModel(lambda prompt: "x")
    with pytest.raises(SetupError, match="icr2 train head"):
        RetHead(2).check(fake)
    with pytest.raises(SetupError, match="was tuned as da, not for rethead@2; use sft_da"):
        RetHead(2).check(tuned(chat_folder, tmp_path / "da", "da"))
    with pytest.raises(SetupError, match=r"holds no head\.safetensors"):
        RetHead(2).check(tuned(chat_folder, tmp_path / "bare", "head"))


def test_a_model_with_windows_can_only_be_asked_again(tmp_path: Path) -> None:
    from transformers import MistralConfig, MistralForCausalLM

    sizes: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "vocab_size": 260}
    config = MistralConfig(**sizes, num_attention_heads=4, num_key_value_heads=2, sliding_window=8)
    MistralForCausalLM(config).save_pretrained(tmp_path / "windows")
    save_tokenizer(tmp_path / "windows", chat=True)
    windows = tuned(tmp_path / "windows", tmp_path / "head", "head")
    write_head(tmp_path / "head", new_head(Shape(32, 16)).state_dict(), "mlp")
    with pytest.raises(SetupError, match=r"use rethead@2\+reprompt"):
        RetHead(2).check(windows)
    RetHead(2, reprompt=True).check(windows)
