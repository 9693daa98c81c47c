"""Probing of tuned models: they answer, as they were tuned, from what their heads look at while they retrieve."""

from pathlib import Path
from typing import Any

import pytest
import torch

from builders.errors import SetupError
from eval_harness.conditions.ranking import Retrieval
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Answer, Question
from eval_harness.methods.probed import Choice, Probed
from eval_harness.methods.rap import Rap
from eval_harness.methods.registry import settings
from eval_harness.methods.sweep import Probed as Seen
from eval_harness.methods.sweep import sweep
from eval_harness.models.base import MARKS
from eval_harness.models.hf import HfModel
from eval_harness.models.session import Session
from eval_harness.models.steps import marks_of
from eval_harness.probing.heads import Cell, Head, Heads, Rates, Setting, heads_by_task, union
from eval_harness.probing.probe import Variant, scores_of
from tests.eval_harness.methods.checkpoints import TUNED, Checkpoint, tuned, writing
from tests.eval_harness.specs import NQ

OPENS, CLOSES = MARKS
PASSAGES = [Passage(f"p{n}", f"T{n}", f"text {n} of some words", "random") for n in range(1, 6)]
INSTANCE = Instance("nq-1", NQ, "who?", ["x"], PASSAGES, [1], "c")
RATES = [[0.1, 0.2, 0.3, 0.4], [0.9, 0.5, 0.0, 0.8]]  # the best two are 1.0 and 1.3


@pytest.fixture(scope="module")
def rta(marked_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> HfModel:
    return tuned(marked_folder, tmp_path_factory.mktemp("tuned") / "rta", "rta")


def heads_of(model: HfModel, position: str, sweep: tuple[Cell, ...] = ()) -> Heads:
    made_from = {"model": model.describe(), "position": position, "pooling": "sum", "calibrated": False}
    return heads_by_task([0, 1], {"nq": Rates(4, {1: RATES, 2: RATES})}, made_from, sweep)


def script(model: HfModel, n: int) -> list[int]:
    """The tokens of a retrieval that copies a passage."""
    opens, closes = marks_of(model)
    text = f"ID: {n}\nTitle: T{n}\nContext: text {n} of some words\n"
    return [opens, *model.tokenizer(text, add_special_tokens=False).input_ids, closes]


@pytest.mark.parametrize("shares", [False, True])
def test_passages_are_chosen_by_what_is_looked_at_while_retrieving(rta: HfModel, shares: bool) -> None:
    heads = heads_of(rta, "retrieval")
    method = Rap(Choice(heads, {"": Setting(2, 1)}), TUNED["rta"])
    prompt = method.prompt(INSTANCE, PASSAGES).text
    other = method.prompt(INSTANCE._replace(query="where?"), PASSAGES).text
    session = Session(rta, [prompt, other] if shares else ())
    with writing(rta, prompt, script(rta, 4)):
        scores = scores_of(rta, INSTANCE, [Variant("retrieval", "sum", False)], [1])
        (found,) = method.answer(session, [Question(INSTANCE, PASSAGES, 50)])
    assert isinstance(found, Answer)
    chosen = union(next(iter(scores.values())), [1], [Head(1, 0), Head(1, 3)], 1)
    assert 1 <= len(chosen) <= 2
    assert found.kept == [PASSAGES[at].pid for at in chosen]
    assert list(found.steps_s or ()) == ["retrieval", "probe", "filter", "answer"]
    kept = [PASSAGES[at] for at in chosen]
    (again,) = TUNED["rta"].answer(Session(rta), [Question(INSTANCE, kept, 50)])
    assert isinstance(again, Answer)
    assert (found.generation, found.steps_log) == (again.generation, [{"retrieved": again.kept}])


def test_another_retrieval_may_choose_others(rta: HfModel) -> None:
    """The retrieval is what is looked from: with it, the choice moves."""
    method = Rap(Choice(heads_of(rta, "retrieval"), {"": Setting(2, 2)}), TUNED["rta"])
    prompt = method.prompt(INSTANCE, PASSAGES).text
    chosen = set()
    for n in range(1, 6):
        with writing(rta, prompt, script(rta, n)):
            (found,) = method.answer(Session(rta), [Question(INSTANCE, PASSAGES, 1)])
        assert isinstance(found, Answer)
        chosen.add(tuple(found.kept or ()))
    assert len(chosen) > 1


def test_a_direct_answer_is_probed_at_its_first_token(marked_folder: Path, tmp_path: Path) -> None:
    model = tuned(marked_folder, tmp_path / "da", "da")
    method = Rap(Choice(heads_of(model, "last"), {"": Setting(2, 1)}), TUNED["da"])
    plain = Rap(Choice(heads_of(model, "last"), {"": Setting(2, 1)}))
    (found,), (wanted,) = (one.answer(Session(model), [Question(INSTANCE, PASSAGES, 20)]) for one in (method, plain))
    assert isinstance(found, Answer)
    assert isinstance(wanted, Answer)
    assert (found.generation, found.kept, found.steps_log) == (wanted.generation, wanted.kept, None)
    assert list(found.steps_s or ()) == ["probe", "filter", "answer"]
    assert (method.name, plain.name) == ("sft_da+rap *:2x1", "rap *:2x1")


def test_q_and_m_come_from_the_name_the_preset_or_the_sweep(rta: HfModel) -> None:
    cells = tuple(Cell("nq", q, 1, 4, "subspan_em", score, 0.5, 0.5, 1.0, 0.5) for q, score in [(1, 0.2), (2, 0.6)])
    heads = heads_of(rta, "retrieval", cells)

    def chosen(name: str, probed: Probed) -> Any:
        (setting,) = settings([name], Retrieval(), probed)
        assert isinstance(setting.method, Rap)
        return setting.method.choice.settings

    assert chosen("sft_rta+rap@3x2", Probed(heads)) == {"": Setting(3, 2)}
    assert chosen("sft_rta+rap", Probed(heads))["nq"] == Setting(2, 1)
    wide = heads._replace(tasks={"nq": Rates(4, dict.fromkeys((1, 2, 8), RATES))})
    assert chosen("sft_rta+rap", Probed(wide, "rta-icr2"))["wow"] == Setting(4, 8)
    assert chosen("sft_cci+rap@1x1", Probed(heads)) == {"": Setting(1, 1)}


def test_what_was_not_tuned_or_probed_so_is_refused(rta: HfModel, marked_folder: Path, chat_folder: Path) -> None:
    heads = heads_of(rta, "retrieval")

    def check(asking: str | None, model: Any, heads: Heads) -> None:
        choice = Choice(heads, {"": Setting(1, 1)})
        (Rap(choice, TUNED[asking]) if asking else Rap(choice)).check(model)

    check("rta", rta, heads)
    with pytest.raises(SetupError, match="was tuned as rta, not for sft_cci"):
        check("cci", rta, heads)
    with pytest.raises(SetupError, match="does not begin with the answer; use sft_rta"):
        check(None, rta, heads)
    with pytest.raises(SetupError, match=r"has no training\.json"):
        check("rta", HfModel(marked_folder, "marked", "r", "float32"), heads)
    plain = HfModel(chat_folder, "chat", "r", "float32")
    check(None, plain, heads_of(plain, "last"))
    with pytest.raises(SetupError, match="was not tuned to retrieve first"):
        check(None, plain, heads_of(plain, "retrieval"))
    other = heads._replace(made_from=heads.made_from | {"model": heads.made_from["model"] | {"revision": "s"}})
    with pytest.raises(SetupError, match="another model"):
        check("rta", rta, other)


GOLD_FIRST = torch.tensor([[[0.9, 0.1, 0.2]]])


def seen(id: str) -> Seen:
    passages = [Passage(f"{id}{at}", "t", f"text {at}", "gold") for at in range(3)]
    return Seen(Instance(id, NQ, "q", ["Lima"], passages, [0], id), GOLD_FIRST)


@pytest.mark.parametrize(
    ("variant", "output", "score"),
    [
        ("rta", f"{OPENS}ID: 1\nTitle: t\nContext: text 0\n{CLOSES}\nLima", 1.0),
        ("rta", f"{OPENS}Lima{CLOSES}\nParis", 0.0),
        ("rta", f"{OPENS}Lima", 0.0),
        ("cci", f"{OPENS}[1]{CLOSES}\nLima", 1.0),
        (None, f"{OPENS}Lima{CLOSES}\nParis", 1.0),
    ],
)
def test_a_sweep_answers_as_the_model_was_tuned(variant: str | None, output: str, score: float, tmp_path: Path) -> None:
    model = Checkpoint(tmp_path / "model", variant, lambda prompt: output)
    cells, left_out = sweep(model, [seen("a"), seen("b")], [0], [1], [1], "en")
    assert [(cell.score, cell.evidence_recall) for cell in cells] == [(score, 1.0)]
    assert set(left_out.values()) == {0}
    assert set(model.limits) == {{"rta": 64 + 1024, "cci": 64 + 128, None: 64}[variant]}


def test_a_sweep_retrieves_in_the_room_that_there_is(tmp_path: Path) -> None:
    positions = 400
    model = Checkpoint(tmp_path / "model", "rta", lambda prompt: "x", max_positions=positions)
    prompts = [TUNED["rta"].prompt(seen("a").instance, seen("a").instance.passages[:n]).text for n in (1, 2)]
    sweep(model, [seen("a"), seen("b")], [0], [1], [1, 2], "en")
    assert set(model.limits) == {positions - max(map(model.count, prompts))}
