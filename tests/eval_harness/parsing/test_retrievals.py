"""Outputs of tuned models in their parts: the retrieval, the passages that it names, and the answer."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from builders.prompts import block
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Question
from eval_harness.methods.variants import Variant, target
from eval_harness.models.base import MARKS
from eval_harness.parsing.answers import CUE, Parsed
from eval_harness.parsing.retrievals import copied, parts
from eval_harness.scoring.evidence import evidence_scores
from tests.eval_harness.methods.checkpoints import TUNED
from tests.eval_harness.specs import NQ, SPECS

OPENS, CLOSES = MARKS
TEXTS = [
    "Rain falls on the plain.",
    "Emma is a novel by Jane Austen. It was published in 1815.",
    "Lima is the capital of Peru.",
    "Emma is a novel by Jane Austen.",
    "Snow melts in spring.",
]
PASSAGES = [Passage(f"p{at}", f"Title {at}", text, "random") for at, text in enumerate(TEXTS, start=1)]


def question(n: int = 5) -> Question:
    passages = [*PASSAGES, *(Passage(f"p{at}", "T", f"filler {at}", "random") for at in range(6, n + 1))]
    return Question(Instance("nq-1", NQ, "who wrote Emma", ["Jane Austen"], passages, [1]), passages, 64)


def of(number: int) -> str:
    passage = PASSAGES[number - 1]
    return block(number, passage.title, passage.text)


@pytest.mark.parametrize(
    ("output", "retrieval", "answering"),
    [
        (f"{OPENS}[3]{CLOSES}\nParis", "[3]", "\nParis"),
        (f"Well, {OPENS}[3]{CLOSES} Paris", "[3]", " Paris"),
        (f"[3]{CLOSES}\nParis", "[3]", "\nParis"),  # as if the mark that opens stood in the prompt
        (f"{OPENS}{CLOSES}\nParis", "", "\nParis"),
        (f"{OPENS}[3]{CLOSES}Paris{OPENS}[4]{CLOSES}Rome", "[3]", "Paris"),
        (f"{OPENS}[3] Answer: Paris", "[3] Answer: Paris", None),  # the retrieval never ended
        ("[3][7]\nAnswer: Paris", "[3][7]\n", "Answer: Paris"),
        ("[3]\n\nJudgement: TRUE", "[3]\n\n", "Judgement: TRUE"),
        ("Answer: Paris", "", "Answer: Paris"),
        ("Paris", "", "Paris"),
        ("1984", "", "1984"),
        ("[3][7", "[3][7", None),
        (of(2).strip(), of(2).strip(), None),
        (f"<think>[9]</think>{OPENS}[3]{CLOSES}Paris", "[3]", "Paris"),
        (f"<think>{OPENS}[3]{CLOSES}Paris", "", None),  # thoughts are not the answer
        ("", "", ""),
    ],
)
def test_an_output_has_two_parts(output: str, retrieval: str, answering: str | None) -> None:
    assert parts(output) == (retrieval, answering)


@pytest.mark.parametrize(
    ("written", "wanted", "recall", "precision"),
    [
        ("[3, 7]", ["p3", "p7"], 1.0, 1.0),
        ("[3][7]", ["p3", "p7"], 1.0, 1.0),
        ("IDs: 3; 7", ["p3", "p7"], 1.0, 1.0),
        ("Evidence: 3 and 7", ["p3", "p7"], 1.0, 1.0),
        ("[37]", ["[37]"], 0.0, 0.0),
        ("[3][3][07][99]", ["p3", "p7", "[99]"], 1.0, 2 / 3),
        ("[3] Emma came out in 1815", ["p3"], 0.5, 1.0),
        ("no passage of 1815 helps", [], 0.0, 0.0),
        ("", [], 0.0, 0.0),
    ],
)
@pytest.mark.parametrize("marks", [True, False])
def test_cited_ids(written: str, wanted: list[str], recall: float, precision: float, marks: bool) -> None:
    """Gold is 3 and 7."""
    output = f"{OPENS}{written}{CLOSES}\nParis" if marks else f"{written}\nAnswer: Paris"
    found = TUNED["cci"].retrieved(question(12), output)
    assert found == wanted
    scores = evidence_scores(found, ["p3", "p7"])
    assert (scores["evidence_recall"], scores["evidence_precision"]) == (recall, pytest.approx(precision))


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (of(2) + of(3), ["p2", "p3"]),
        (of(3) + of(2), ["p3", "p2"]),  # in the order of the copies
        (of(2) + of(2), ["p2"]),
        (of(4), ["p4"]),  # a part of 2, but its own block
        (f" {of(2)}\n\n{of(3).strip()}", ["p2", "p3"]),
        ("ID: 5\nTitle: Title 3\nContext: Lima is the capital of Peru.\n", ["p3"]),  # another's number
        ("Title: Title 3\nContext: LIMA is the capital, of Peru", ["p3"]),
        ("Lima is the capital of Peru.\nSnow melts in spring.", ["p3", "p5"]),
        ("Title: T\nContext: Emma is a novel by Jane Austen. It was published in 1815. Yes.", ["p2"]),  # 4 is in 2
        ("ID: 3\nTitle: Title 3\nContext: Lima is the capi", ["[?]"]),  # cut off inside a word
        ("ID: 3\nTitle: Title 3\nContext: Lima is the", ["p3"]),
        ("ID: 2\nTitle: T\nContext: a novel by Jane Austen", ["p2"]),  # in two, of which one bears the number
        ("ID: 3\nTitle: T\nContext: a novel by Jane Austen", ["[?]"]),
        ("ID: 2\nTitle: T\nContext: Emma is a poem by Keats.\n" + of(3), ["[?]", "p3"]),
        ("ID: 2\nTitle: T\nContext: one\nID: 3\nTitle: T\nContext: two\nID: 4\nContext: one", ["[?]", "[?2]"]),
        (of(2) + "and more that nobody wrote", ["p2", "[?]"]),
        ("ID: 99\nTitle: T\nContext: none", ["[?]"]),
        ("ID: 3\n", ["[?]"]),
        ("[3]", ["[?]"]),
        ("", []),
    ],
)
def test_copies_are_found_in_the_context(written: str, wanted: list[str]) -> None:
    assert copied(PASSAGES, written) == wanted


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("Title: Title 3. Lima is the capital of Peru.", ["p3"]),  # header and text on one line
        ("Title: Title 3 Lima is the capital", ["p3"]),  # a part of it
        ("Title 3: Lima is the capital of Peru.", ["p3"]),
        ("title: Title 3 - LIMA is the capital of Peru", ["p3"]),
        ("ID: 3 Title: Title 3 Context: Lima is the capital of Peru.", ["p3"]),
        ("ID: 3, Title: Title 3, Context: Lima is the capital", ["p3"]),
        ("ID: 3 Lima is the capital of Peru.", ["p3"]),
        ("ID: 3\nLima is the capital", ["p3"]),
        ("ID: 3\nTitle: Title 3 Context: Lima is the capital of Peru.", ["p3"]),
        ("Title: Title 3\nLima is the capital of Peru.", ["p3"]),
        ("[3] Title 3: Lima is the capital of Peru.", ["p3"]),
        ("1. Title 3: Lima is the capital of Peru.\n2. Title 5: Snow melts in spring.", ["p3", "p5"]),
        ("Title: Title 3. Lima is the capital\nTitle: Title 5. Snow melts", ["p3", "p5"]),
        ("Title: Title 3. Lima is the capital Title: Title 5. Snow melts in spring.", ["p3", "p5"]),
        ("ID: 3 Title: Title 3 Context: Lima is ID: 5 Title: Title 5 Context: Snow melts", ["p3", "p5"]),
        ("Title: Title 3. Lima is the capital of Peru.\nSnow melts in spring.", ["p3", "p5"]),
        ("Title: Title 4. a novel by Jane Austen", ["p4"]),  # in two, of which one has the title
        ("Title: Title 3. Rome is the capital of Peru.", ["[?]"]),
        ("Title: Title 3", ["[?]"]),
    ],
)
def test_copies_in_any_layout(written: str, wanted: list[str]) -> None:
    assert copied(PASSAGES, written) == wanted
    assert copied(PASSAGES, written.replace("\n", "\r\n")) == wanted


def test_a_copy_on_one_line_is_evidence() -> None:
    passages = [Passage("p1", "T", "Passage text.", "gold"), Passage("p2", "U", "Other words.", "random")]
    asked = Question(Instance("nq-1", NQ, "where?", ["Lima"], passages, [0]), passages, 64)
    output = f"{OPENS}Title: T. Passage text.{CLOSES}Lima"
    assert TUNED["rta"].retrieved(asked, output) == ["p1"]
    assert TUNED["rta"].read(NQ, output) == Parsed("Lima")


def test_a_strange_copy_costs_precision() -> None:
    """Gold is 2 and 3; of three copies one is right, one is of another passage and one of none."""
    found = TUNED["rta"].retrieved(question(), f"{OPENS}{of(2)}{of(5)}ID: 3\nTitle: T\nContext: made up\n{CLOSES}\nx")
    assert found == ["p2", "p5", "[?]"]
    scores = evidence_scores(found, ["p2", "p3"])
    assert scores == pytest.approx({"evidence_recall": 1 / 2, "evidence_precision": 1 / 3, "evidence_f1": 2 / 5})


@pytest.mark.parametrize("variant", ["rta", "cci"])
def test_a_retrieval_that_never_ended_is_cut_off_and_still_evidence(variant: Variant) -> None:
    output = f"{OPENS}{of(2) if variant == 'rta' else '[2]'}"
    assert TUNED[variant].read(NQ, output) == Parsed(None, 0, truncated=True)
    assert TUNED[variant].retrieved(question(), output) == ["p2"]


@pytest.mark.parametrize(
    ("task", "output", "answer", "n"),
    [
        ("nq", f"{OPENS}[3]{CLOSES}\nParis", "Paris", 1),
        ("nq", f"{OPENS}[3]{CLOSES}\nAnswer:\nParis", "Paris", 1),
        ("nq", f"{OPENS}[3]{CLOSES}\nAnswer: Paris\nAnswer: Rome", "Paris", 2),
        ("nq", "[3]\nAnswer: Paris\nAnswer: Rome", "Paris", 2),
        ("nq", f"{OPENS}[3]{CLOSES}\n", None, 0),
        ("nq", "<think>Paris or Rome?</think> Rome", "Rome", 1),  # thoughts are not the answer
        ("fever", f"{OPENS}{block(1, 'T', 'It is TRUE.')}{CLOSES}\nFALSE", "REFUTES", 1),
        ("fever", f"{block(1, 'T', 'It is TRUE.')}\nAnswer: FALSE", "REFUTES", 1),
        ("fever", f"{OPENS}[1]{CLOSES}\nI cannot say", None, 0),
        ("wow", f"{OPENS}[1]{CLOSES}\nPetra is a city.", "Petra is a city.", 1),
    ],
)
@pytest.mark.parametrize("variant", ["rta", "cci"])
def test_the_answer_is_what_follows(variant: Variant, task: str, output: str, answer: str | None, n: int) -> None:
    """After a retrieval."""
    found = TUNED[variant].read(SPECS[task], output)
    assert (found.answer, found.n_answers, found.truncated) == (answer, n, False)


def test_a_direct_answer_is_read_whole() -> None:
    assert TUNED["da"].read(NQ, "Paris [3]") == Parsed("Paris [3]")
    assert TUNED["da"].retrieved(question(), "Paris [3]") is None


PIECES = st.lists(
    st.sampled_from(["ID: 1\n", "Title: a", "Context: ", "\n", "a", "the end.", "é", " ", "[2]", "ID: x"])
)
SOME = st.lists(st.tuples(st.booleans(), PIECES.map("".join)), min_size=1, max_size=4)


@given(SOME, st.sampled_from(["rta", "cci"]), st.booleans())
def test_what_is_learned_is_read_back(made: list[tuple[bool, str]], variant: Variant, marks: bool) -> None:
    passages = [Passage(f"p{at}", f"T{at}", text, "random") for at, (_, text) in enumerate(made)]
    gold = [at for at, (is_gold, _) in enumerate(made) if is_gold]
    instance = Instance("nq-1", NQ, "q", ["Jane Austen"], passages, gold)
    learned = target(instance, passages, variant, marks)
    assume(marks or not CUE.search(learned.rpartition("\n")[0]))
    tuned = TUNED[variant]
    assert tuned.retrieved(Question(instance, passages, 64), learned) == instance.gold_pids
    assert tuned.read(NQ, learned) == Parsed("Jane Austen")
