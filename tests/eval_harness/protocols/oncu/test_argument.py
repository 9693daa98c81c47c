"""The protocol's argument, run: systems that a single metric takes for the same, told apart by the four conditions.

Each question asks where somebody was born; one passage of six says it, or two together: the town, and its country.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from eval_harness.commands.oncu import conditions
from eval_harness.models.fake import FakeModel
from eval_harness.protocols.oncu.groups import grouped
from eval_harness.protocols.oncu.matched import FULL, NONE, ORACLE, matched
from eval_harness.protocols.oncu.modes import counts, modes_of
from eval_harness.protocols.oncu.recovery import Estimate
from eval_harness.report.study import one_study, read_studies
from tests.eval_harness.conftest import instance
from tests.eval_harness.running import plan_of, results_of

BM25 = "retrieved_bm25@2+cite"
EVERY = range(8)
_BLOCK = re.compile(r"^Context: (.+)$", re.M)
_TOWNS = ["Arl", "Bosk", "Cray", "Dorn", "Esk", "Fenn", "Gorse", "Hulm"]


def questions(two_hops: bool = False) -> list[dict[str, Any]]:
    """Eight questions; with two hops, the second passage shares no word with the question."""
    rows = []
    for at in EVERY:
        others = [f"Born late, Rider{at + 10 * n} has seen a country." for n in range(1, 5)]
        town = f"Rider{at} is a rider born in {_TOWNS[at]}."
        last = f"{_TOWNS[at]} belongs to {_TOWNS[at]}land." if two_hops else "Rain is wet."
        answer = f"{_TOWNS[at]}land" if two_hops else _TOWNS[at]
        query = f"In which country was Rider{at} born" if two_hops else f"Where was Rider{at} born"
        gold = [2, 5] if two_hops else [2]
        rows.append(instance(f"nq-{at}", "nq", query, [answer], gold, [*others[:2], town, *others[2:], last]))
    return rows


@dataclass(frozen=True)
class System:
    """What a system answers: questions by heart, others from up to two passages, others from any number.

    It finds and cites the gold that is there, if it cites; questions that it does not answer get a wrong answer.
    """

    by_heart: Collection[int] = ()
    from_few: Collection[int] = EVERY
    from_many: Collection[int] = EVERY
    cites: bool = True

    def __call__(self, prompt: str) -> str:
        at = int(re.findall(r"Rider(\d+) born", prompt)[-1])
        passages = _BLOCK.findall(prompt)
        town, two_hops = _TOWNS[at], "which country" in prompt
        first, second = f"Rider{at} is a rider", f"{town} belongs to"
        gold = [n for n, text in enumerate(passages, 1) if text.startswith((first, second))]
        answers = self.from_few if len(passages) <= 2 else self.from_many
        right = at in self.by_heart or (at in answers and len(gold) == 1 + two_hops)
        answer = f"{town}land" if two_hops else town
        evidence = ", ".join(map(str, gold)) if self.cites and gold else "none"
        return f"{answer if right else 'Nowhere'}\nEvidence: [{evidence}]"


class Seen:
    """A system through the protocol."""

    def __init__(self, run: Path) -> None:
        (self.matched,) = matched(one_study(read_studies([run])))
        (self.group,) = grouped(self.matched, "task", {})

    def field(self, name: str) -> Estimate:
        return self.group.fields[name]

    @property
    def accuracy(self) -> float:
        return self.field("answer_em").scores[FULL].mean

    @property
    def evidence(self) -> float:
        return self.field("evidence_f1").scores[FULL].mean

    def recovered(self, context: str = FULL) -> float | None:
        return self.field("answer_em").recovered[context].raw

    def modes(self, context: str = FULL) -> dict[str, int]:
        return {mode: n for mode, n in counts(modes_of(self.matched)[context]).items() if n}


Run = Callable[..., Seen]


@pytest.fixture
def run(make_dataset: Callable[..., Path], tmp_path: Path) -> Run:
    folders: list[Path] = []

    def run(system: System, two_hops: bool = False) -> Seen:
        folders.append(tmp_path / f"run{len(folders)}")
        plan = plan_of(make_dataset(c1k_p0=questions(two_hops)), methods=conditions(["bm25"], 2))
        results_of(plan, FakeModel(system), folders[-1])
        return Seen(folders[-1])

    return run


def test_equal_accuracy_and_oracle_gap_but_one_knew_it_before(run: Run) -> None:
    knew, read = run(System(by_heart=range(4), from_many=())), run(System(from_many=range(4)))
    assert knew.accuracy == read.accuracy == 0.5
    assert knew.evidence == read.evidence == 1
    gaps = [one.field("answer_em").scores[ORACLE].mean - one.accuracy for one in (knew, read)]
    assert gaps == [0.5, 0.5]
    assert (knew.recovered(), read.recovered()) == (0.0, 0.5)
    assert knew.modes() == {"answerable": 4, "conversion": 4}
    assert read.modes() == {"recovered": 4, "conversion": 4}


def test_equal_evidence_but_one_does_not_use_it(run: Run) -> None:
    uses, cites = run(System()), run(System(from_many=()))
    assert uses.evidence == cites.evidence == 1
    assert uses.field("retrieval_recall") == cites.field("retrieval_recall")
    assert (uses.recovered(), cites.recovered()) == (1.0, 0.0)
    assert cites.modes() == {"conversion": 8}
    assert uses.field("joint_f1").scores[FULL].mean == 1
    assert cites.field("joint_f1").scores[FULL].mean == 0


def test_a_model_that_answers_from_memory_looks_perfect_and_is_invalid(run: Run) -> None:
    reads, remembers = run(System()), run(System(by_heart=EVERY))
    assert reads.accuracy == remembers.accuracy == 1
    assert reads.evidence == remembers.evidence == 1
    assert (reads.recovered(), remembers.recovered()) == (1.0, None)
    assert remembers.field("answer_em").valid is False
    assert remembers.modes() == {"answerable": 8}
    assert remembers.field("evidence_f1").recovered[FULL].raw == 1  # only cites; beside the answer it says so


def test_equal_gain_from_the_context_but_one_cannot_read(run: Run) -> None:
    slow, lost = run(System(from_few=range(2), from_many=range(2))), run(System(from_many=range(2), cites=False))
    gains = [one.accuracy - one.field("answer_em").scores[NONE].mean for one in (slow, lost)]
    assert gains == [0.25, 0.25]
    assert (slow.recovered(), lost.recovered()) == (1.0, 0.25)
    assert slow.modes() == {"recovered": 2, "reader": 6}
    assert lost.modes() == {"recovered": 2, "localisation": 6}


def test_where_the_chain_breaks(run: Run) -> None:
    """Two hops lose in retrieval what they have in the full context; one hop, read badly, the other way round."""
    chain, long = run(System(), two_hops=True), run(System(from_many=(), cites=False))
    assert chain.field("retrieval_recall").scores[BM25].mean == 0.5
    assert (chain.recovered(), chain.recovered(BM25)) == (1.0, 0.0)
    assert chain.modes(BM25) == {"coverage": 8}
    assert long.field("retrieval_recall").scores[BM25].mean == 1
    assert (long.recovered(), long.recovered(BM25)) == (0.0, 1.0)
    assert long.modes() == {"localisation": 8}


def test_one_contract_and_no_passage_without_evidence(make_dataset: Callable[..., Path], tmp_path: Path) -> None:
    """No text of the context in the closed-book prompt; an item without gold leaves all conditions."""
    rows = questions()
    rows[3] |= {"gold": []}
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return System()(prompt)

    plan = plan_of(make_dataset(c1k_p0=rows), methods=conditions(["bm25"], 2))
    found = results_of(plan, FakeModel(answer), tmp_path / "run")
    assert all('write "Evidence:" and the IDs' in prompt for prompt in asked)
    bare = [prompt for prompt in asked if "Context:" not in prompt]
    assert len(bare) == 8
    assert not any("rider born" in prompt for prompt in bare)
    assert found["nq-3", "1k_p0", ORACLE].status == "n/a"
    seen = Seen(tmp_path / "run")
    assert sorted(seen.matched.rows) == sorted(f"nq-{at}" for at in EVERY if at != 3)
    assert {interval.n for interval in seen.field("answer_em").scores.values()} == {7}
    assert [lost[:2] for lost in seen.matched.left_out] == [("nq-3", ORACLE)]
