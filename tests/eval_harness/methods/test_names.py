import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from builders.errors import SetupError
from builders.format1 import spec_of
from builders.prompts import render
from builders.registry import Registry
from eval_harness.conditions.ranking import Retrieval
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods import registry
from eval_harness.methods.base import Answer, Method, Question
from eval_harness.methods.registry import METHODS, described, forms, setting, settings
from eval_harness.models.base import Generation, GenerationError
from eval_harness.models.fake import FakeModel
from eval_harness.models.session import Session
from tests.eval_harness.running import plan_of, reader, results_of
from tests.eval_harness.specs import NQ

PASSAGES = [Passage(f"{n}:0", f"T{n}", f"text {n}", "random") for n in range(20)]
INSTANCE = Instance("nq-1", NQ, "q", ["a"], PASSAGES, [3])


@pytest.mark.parametrize(
    ("written", "name", "condition"),
    [
        ("closed_book", "closed_book", "closed_book"),
        ("vanilla_rag", "vanilla_rag", "vanilla"),
        ("retrieved_bm25", "retrieved_bm25", "retrieved_bm25@16"),
        ("retrieved_bm25@16", "retrieved_bm25", "retrieved_bm25@16"),
        ("retrieved_hybrid@8+cite", "retrieved_hybrid@8+cite", "retrieved_hybrid@8"),
        ("vanilla_rag+cite", "vanilla_rag+cite", "vanilla"),
    ],
)
def test_names(written: str, name: str, condition: str) -> None:
    (setting,) = settings([written], Retrieval())
    assert (setting.name, setting.condition.name) == (name, condition)
    assert setting.cites is written.endswith("+cite")
    assert setting.names_evidence is (setting.cites or "retrieved" in written)


@pytest.mark.parametrize("name", ["rag", "", "+cite", "@8"])
def test_other_names_are_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(SetupError, match=rf"no method {re.escape(name)}; available: {re.escape(', '.join(forms()))}"):
        settings(["vanilla_rag", name], Retrieval())


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("rap@4", "rap[@QxM]"),
        ("vanilla_rag@8", "vanilla_rag[+cite]"),
        ("retrieved_bm25@0", "retrieved_bm25[@K][+cite]"),
        ("retrieved_bm25@", "retrieved_bm25[@K][+cite]"),
        ("vanilla_rag+sing", "vanilla_rag[+cite]"),
        ("rethead", "rethead@K[+reprompt]"),
        ("sft_da+block_context", "sft_da[+rap[@QxM]]"),
        ("sft_rta+block_context+rap@4x1", "sft_rta[+block_context | +rap[@QxM]]"),
    ],
)
def test_parameters_of_another_form_are_refused_with_the_form(name: str, form: str) -> None:
    with pytest.raises(SetupError, match=rf"no method {re.escape(name)}; \w+ is written {re.escape(form)}$"):
        settings([name], Retrieval())


def test_every_method_says_how_it_is_named_and_what_it_does_and_needs() -> None:
    said = dict(line.split(": ") for line in described())
    assert said["closed_book[+cite]"] == "answers without passages"
    assert said["rap[@QxM]"].endswith("M each (needs --heads and a local model)")
    assert list(said) == forms()


def test_one_setting_under_two_spellings_is_one() -> None:
    assert [one.name for one in settings(["retrieved_bm25@16", "retrieved_bm25"], Retrieval())] == ["retrieved_bm25"]


def test_a_setting_shows_what_its_name_says() -> None:
    k8, default = settings(["retrieved_bm25@8", "retrieved_bm25"], Retrieval())
    assert len(k8.shown(INSTANCE) or []) == 8
    assert len(default.shown(INSTANCE) or []) == 16


def test_the_citing_variant_asks_for_evidence_over_the_same_passages() -> None:
    (citing,) = settings(["oracle_rag+cite"], Retrieval())
    assert citing.prompt(INSTANCE) == render(spec_of("nq"), "q", [("T3", "text 3")], cites=True).text
    assert setting("oracle_rag").prompt(INSTANCE) == render(spec_of("nq"), "q", [("T3", "text 3")]).text
    parsed = citing.method.read(NQ, "Paris\nEvidence: [2], [7]")
    assert (parsed.answer, parsed.evidence) == ("Paris", ("2", "7"))
    assert setting("oracle_rag").method.read(NQ, "Paris").evidence is None


class Echo(Method):
    """Answers with the title of the first passage that it is shown."""

    says = "answers with the first title"
    keeps = True

    def answer(self, session: Session, questions: Sequence[Question]) -> list[Answer | GenerationError]:
        firsts = [question.passages[0] for question in questions]
        return [Answer(Generation(first.title, 1, 1, truncated=False), [first.pid]) for first in firsts]


def test_a_method_is_one_class_and_one_line(
    dataset_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "METHODS", Registry("icr2.methods", "method", {**METHODS, "echo": Echo}, Method))
    rows = results_of(plan_of(dataset_folder, methods=("echo",)), FakeModel(reader), tmp_path / "run")
    row = rows["nq-1", "1k_p0", "echo"]
    assert (row.answer, row.evidence, row.condition, row.scores["evidence_recall"]) == (
        "Title 0",
        ["0:0"],
        "vanilla",
        0,
    )
    assert "echo: from another package" in registry.described()
    with pytest.raises(SetupError, match="no method echo@2; echo is written echo"):
        settings(["echo@2"])
