import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_harness.scorers import LABEL_ACCURACY, ROUGE_L, SUBSPAN_EM, scorer_for
from eval_harness.scorers.subspan_em import official_form


@pytest.mark.parametrize(
    ("golds", "prediction", "official", "strict"),
    [
        (["A"], "B", 1, 0),  # case 1: the published form deletes the answer, and nothing stands everywhere
        (["A"], "A", 1, 1),  # case 1
        (["A"], "(A)", 1, 1),  # case 1
        (["The The"], "the the", 1, 1),  # case 3
        (["thé"], "café", 1, 0),  # case 4
        (["Á"], "É", 1, 0),  # case 4
        (["Montreal", "Montréal"], "montreal", 1, 1),  # case 6
        (["Montreal", "Montréal"], "Montréal", 1, 1),  # case 6
        (["Ann", "Bob", "Ann"], "Bob", 1, 1),  # case 9: any of them
        (["new york"], "york", 0, 0),  # case 10: never the prediction in the answer
        (["Dakota"], "Dkot", 0, 0),  # case 12
        (["Beatles"], "The Beatles", 1, 1),  # case 12
        (["no"], "I know the northern road", 1, 0),  # case 18
        (["12"], "in 312 BC", 1, 0),  # case 18
        (["Mark Twain"], "not Mark Twain", 1, 1),  # case 19: by definition
        (["1990–1995"], "1990-1995", 0, 1),  # case 21
        (["O’Neil"], "O'Neil", 0, 1),  # case 21
        (["１９９０"], "1990", 0, 1),  # case 21
        (["“Hamlet”"], "Hamlet", 0, 1),  # case 21
        (["Ferdowsi"], "It was the poet Ferdowsi.", 1, 1),
        (["Ferdowsi"], "Homer", 0, 0),
    ],
)
def test_subspan_em(golds: list[str], prediction: str, official: int, strict: int) -> None:
    """cases 1, 3, 4, 6, 9, 10, 12, 18, 19, 21: the published value beside ours"""
    assert SUBSPAN_EM.score(prediction, golds) == {"subspan_em": official, "subspan_em_strict": strict}


def test_the_published_form_step_by_step() -> None:
    # accents taken apart, punctuation gone without a space, then the articles
    assert official_form("  The U.S.  Army's a-b, an Émigré ") == "us armys ab e\u0301migre\u0301"


@given(st.text(min_size=1), st.text(), st.text())
def test_an_answer_among_words_is_found(answer: str, before: str, after: str) -> None:
    for gold in SUBSPAN_EM.usable([answer]):
        assert SUBSPAN_EM.score(f"{before} {gold} {after}", [gold])["subspan_em_strict"] == 1


@pytest.mark.parametrize("scorer", [SUBSPAN_EM, LABEL_ACCURACY, ROUGE_L])
def test_unlabelled_rows_have_nothing_to_score_against(scorer) -> None:  # type: ignore[no-untyped-def]
    """case 26"""
    assert scorer.usable([]) == scorer.usable(["<unk>"]) == scorer.usable(["", " ?! "]) == []


def test_labels() -> None:
    """case 27: the label is read, not its case"""
    assert LABEL_ACCURACY.usable(["supports"]) == ["SUPPORTS"]
    assert LABEL_ACCURACY.usable(["NOT ENOUGH INFO"]) == []
    assert LABEL_ACCURACY.score("SUPPORTS", ["SUPPORTS"]) == {"label_accuracy": 1}
    assert LABEL_ACCURACY.score("REFUTES", ["SUPPORTS"]) == {"label_accuracy": 0}


def test_rouge_l_by_hand() -> None:
    # common subsequence "the cat on mat", 4 words of 4 and of 6: 2 * 1 * 2/3 / (1 + 2/3) = 0.8
    want = pytest.approx(0.8)
    assert ROUGE_L.score("The cat on mat", ["the cat sat on the mat"]) == {"rouge_l": want, "rouge_l_strict": want}


def test_rouge_l_takes_the_best_answer_and_does_not_stem() -> None:
    assert ROUGE_L.score("dogs", ["cats", "dogs"])["rouge_l"] == 1
    assert ROUGE_L.score("dogs", ["dog"])["rouge_l"] == 0


@pytest.mark.parametrize(
    ("gold", "prediction", "official", "strict"), [("Beyoncé", "Beyonc", 1, 0), ("café", "cafe", 0, 1)]
)
def test_rouge_l_and_accents(gold: str, prediction: str, official: int, strict: int) -> None:
    """case 8"""
    assert ROUGE_L.score(prediction, [gold]) == {"rouge_l": official, "rouge_l_strict": strict}


def test_rouge_l_reads_other_scripts() -> None:
    assert ROUGE_L.score("東京", ["東京"])["rouge_l_strict"] == 1


def test_each_task_has_its_scorer() -> None:
    assert scorer_for("fever") is LABEL_ACCURACY
    assert scorer_for("wow") is ROUGE_L
    assert scorer_for("musique") is SUBSPAN_EM


@pytest.mark.parametrize("scorer", [SUBSPAN_EM, LABEL_ACCURACY, ROUGE_L])
def test_scores_carry_the_metrics_names(scorer) -> None:  # type: ignore[no-untyped-def]
    assert tuple(scorer.score("x", ["SUPPORTS"])) == scorer.metrics
