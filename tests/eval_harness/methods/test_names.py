import pytest

from builders.errors import SetupError
from builders.format1 import spec_of
from builders.prompts import render
from eval_harness.conditions.ranking import Retrieval
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.names import METHODS, NAMES, settings
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


@pytest.mark.parametrize(
    "name", ["rag", "rap@4", "vanilla_rag@8", "retrieved_bm25@0", "vanilla_rag+sing", "", "retrieved_bm25@"]
)
def test_other_names_are_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(SetupError, match=rf"there are {', '.join(NAMES)}, .*retrieved_bm25@8.*vanilla_rag\+cite"):
        settings(["vanilla_rag", name], Retrieval())


def test_one_setting_under_two_spellings_is_one() -> None:
    assert [one.name for one in settings(["retrieved_bm25@16", "retrieved_bm25"], Retrieval())] == ["retrieved_bm25"]


def test_a_setting_shows_what_its_name_says() -> None:
    k8, default = settings(["retrieved_bm25@8", "retrieved_bm25"], Retrieval())
    assert len(k8.shown(INSTANCE) or []) == 8
    assert len(default.shown(INSTANCE) or []) == 16


def test_the_citing_variant_asks_for_evidence_over_the_same_passages() -> None:
    (citing,) = settings(["oracle_rag+cite"], Retrieval())
    assert citing.prompt(INSTANCE) == render(spec_of("nq"), "q", [("T3", "text 3")], cites=True).text
    assert METHODS["oracle_rag"].prompt(INSTANCE) == render(spec_of("nq"), "q", [("T3", "text 3")]).text
    parsed = citing.method.read(NQ, "Paris\nEvidence: [2], [7]")
    assert (parsed.answer, parsed.evidence) == ("Paris", ("2", "7"))
    assert METHODS["oracle_rag"].method.read(NQ, "Paris").evidence is None
