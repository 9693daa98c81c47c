"""The scores of a question: containment, exact match, token F1, recall EM and coverage."""

import pytest

from eval_harness.scoring.measures.published import icr2_form, loft_form
from eval_harness.scoring.qa import QA
from tests.eval_harness.specs import NQ


def scores(golds: list[str], prediction: str, *names: str) -> list[float]:
    """The named scores of a prediction."""
    found = QA.score(prediction, golds)
    return [found[name] for name in names]


@pytest.mark.parametrize(
    ("golds", "prediction", "official", "strict"),
    [
        (["A"], "B", (1, 1, 0), (0, 0)),  # the published forms delete the answer, and nothing stands everywhere
        (["A"], "A", (1, 1, 1), (1, 1)),  # an answer that is an article
        (["A"], "(A)", (1, 1, 1), (1, 1)),  # an answer that is an article
        (["The The"], "the the", (1, 1, 1), (1, 1)),  # an answer of articles alone
        (["thé"], "café", (1, 0, 0), (0, 0)),  # only LOFT decomposes
        (["Á"], "É", (1, 0, 0), (0, 0)),  # accents
        (["Montreal", "Montréal"], "montreal", (1, 1, 1), (1, 1)),  # spellings with and without accents
        (["Montreal", "Montréal"], "Montréal", (1, 1, 1), (1, 1)),  # spellings with and without accents
        (["Ann", "Bob", "Ann"], "Bob", (1, 1, 1), (1, 1)),  # any of them
        (["new york"], "york", (0, 0, 0), (0, 0)),  # never the prediction in the answer
        (["Dakota"], "Dkot", (0, 0, 0), (0, 0)),  # no letter is taken out of a word
        (["The Beatles"], "Beatles", (1, 1, 1), (1, 1)),  # no letter is taken out of a word
        (["no"], "I know the northern road", (1, 1, 0), (0, 0)),  # a short answer inside another word
        (["12"], "in 312 BC", (1, 1, 0), (0, 0)),  # a short answer inside another word
        (["1990–1995"], "1990-1995", (0, 0, 0), (1, 1)),  # dashes, quotes and digits of other scripts
        (["O’Neil"], "O'Neil", (0, 0, 0), (1, 1)),  # dashes, quotes and digits of other scripts
        (["１９９０"], "1990", (0, 0, 0), (1, 1)),  # dashes, quotes and digits of other scripts
        (["“Hamlet”"], "Hamlet", (0, 0, 0), (1, 1)),  # dashes, quotes and digits of other scripts
        (["SUPPORTS"], "supports", (1, 1, 1), (1, 1)),  # EM
        (["Ferdowsi"], "It was the poet Ferdowsi.", (1, 1, 0), (1, 0)),
        (["Ferdowsi"], "Homer", (0, 0, 0), (0, 0)),
    ],
)
def test_containment_and_exact_match(
    golds: list[str], prediction: str, official: tuple[int, ...], strict: tuple[int, ...]
) -> None:
    """The published values beside ours."""
    assert scores(golds, prediction, "subspan_em", "recall_em", "em") == list(official)
    assert scores(golds, prediction, "subspan_em_strict", "em_strict") == list(strict)


@pytest.mark.parametrize(
    ("golds", "prediction", "official", "strict"),
    [
        (["The The"], "the the", 0, 1),  # nothing is left in the published form
        (["no"], "no one", 2 / 3, 0),  # no partial credit for yes or no
        (["yes"], "yes sir", 2 / 3, 0),  # no partial credit for yes or no
        (["no one"], "no", 2 / 3, 0),  # the other way round
        (["no"], "No.", 1, 1),
        (["no entry"], "no no", 1 / 2, 1 / 2),
        (["no entry"], "no exit", 1 / 2, 1 / 2),  # no rule where neither is a bare yes or no
        (["Dakota"], "Dkot", 0, 0),  # no letter is taken out of a word
        (["red blue green yellow", "zzz"], "red only here", 2 / 7, 2 / 7),  # a part mark stays one
        (["red red blue"], "red red red", 2 / 3, 2 / 3),  # repeats count as often as both have them
        (["Paris"], "", 0, 0),
    ],
)
def test_token_f1(golds: list[str], prediction: str, official: float, strict: float) -> None:
    """Answers of articles alone, articles inside words, partial credit, and none for yes or no."""
    assert scores(golds, prediction, "token_f1", "token_f1_strict") == pytest.approx([official, strict])


@pytest.mark.parametrize(
    ("gold", "prediction", "official", "strict"),
    [
        ("-5", "5", 1, 0),  # SQuAD's form has no sign, so the published measure says 1
        ("5", "-5", 1, 0),
        ("−5", "-5.0", 0, 1),
        ("C", "C++", 1, 0),
        ("C++", "C", 1, 0),
        ("C#", "C", 1, 0),
        ("C♯", "C#", 0, 1),
        ("A+", "A-", 1, 0),
        ("29.00", "29", 0, 1),
        ("29", "29.00", 0, 1),
        ("1,000", "1000", 1, 1),
        ("1000", "1,000.0", 0, 1),
        (".5", "0.5", 0, 1),
        ("5", ".5", 1, 0),
        ("50%", "50", 1, 0),
        ("50 percent", "50%", 0, 1),
        ("STRASSE", "Straße", 0, 1),
        ("İstanbul", "i̇stanbul", 1, 1),
        ("ΟΔΟΣ", "οδοσ", 0, 1),
        ("covid-19", "COVID 19", 0, 1),
        (".NET", "NET", 1, 0),
        ("NET", ".NET", 1, 0),
        ("A* search", "A search", 1, 0),
        ("F#", "F", 1, 0),
        ("C#", "C#", 1, 1),
        ("Paris", "*Paris*", 1, 1),
        ("€5", "$5", 0, 0),  # SQuAD's form deletes the ASCII sign only
        ("$5", "5", 1, 0),
        ("$5", "$5.00", 0, 1),
        ("€5", "5 €", 0, 1),
        ("1e3", "1000", 0, 0),  # an exponent is no number of the rules
        ("10^6", "106", 1, 0),
        ("10⁶", "106", 0, 0),
        ("2024", "٢٠٢٤", 0, 1),
        ("२०२४", "2024", 0, 1),
        ("1/2", "12", 1, 0),
        ("-5", "−5", 0, 1),
        ("-5", "\u20115", 0, 1),
        ("Na⁺", "Na", 0, 0),
        ("1990-95", "199095", 1, 0),
    ],
)
def test_signs_marks_numbers_and_case(gold: str, prediction: str, official: float, strict: float) -> None:
    """Exact in the strict column is full F1 and contained there, and nothing else is."""
    assert scores([gold], prediction, "em", "em_strict") == [official, strict]
    same = scores([gold], prediction, "subspan_em_strict", "token_f1_strict", "coverage_strict")
    assert same == [1, 1, 1] if strict else 1 not in same


def test_a_currency_is_a_word_of_its_amount() -> None:
    """As `percent` is: an amount in a currency contains its number, and the number is not the amount."""
    names = ("em", "em_strict", "subspan_em_strict", "token_f1_strict")
    assert scores(["5"], "$5", *names) == pytest.approx([1, 0, 1, 2 / 3])
    assert scores(["5 million"], "It cost $5 million.", "subspan_em_strict") == [1]
    assert scores(["€5"], "5 euros", "em_strict") == [1]


def test_a_negated_answer_shows_in_the_gap_between_scores() -> None:
    """A negated answer."""
    found = scores(["Mark Twain"], "not Mark Twain", "subspan_em", "subspan_em_strict", "token_f1", "em", "em_strict")
    assert found == pytest.approx([1, 1, 0.8, 0, 0])


def test_a_long_list_shows_in_precision_and_length() -> None:
    """Containment is full, precision is not."""
    titles = ", ".join(f"Person{number}" for number in range(20))
    names = ("subspan_em_strict", "token_precision", "token_precision_strict", "n_pred_tokens", "token_f1_strict")
    assert scores(["Person7"], titles, *names) == pytest.approx([1, 1 / 20, 1 / 20, 20, 2 / 21])


@pytest.mark.parametrize(
    ("golds", "prediction", "official", "strict"),
    [
        (["Ann", "Bob", "Ann"], "Bob", 1 / 3, 1 / 2),  # an answer given twice
        (["123", "456"], "123", 1 / 2, 1 / 2),  # several needles are a mean
        (["Ann", "Bob"], "Bob and\nAnn", 0, 1),
        (["ann", "Ann!"], "Ann", 1 / 2, 1),
        (["12"], "312", 0, 0),
    ],
)
def test_coverage(golds: list[str], prediction: str, official: float, strict: float) -> None:
    """An answer given twice; several needles are a mean."""
    assert scores(golds, prediction, "coverage", "coverage_strict") == pytest.approx([official, strict])


def test_one_answer_is_enough_for_a_question() -> None:
    """Several needles are a mean."""
    assert scores(["a1", "b2"], "b2", "subspan_em", "subspan_em_strict", "recall_em") == [1, 1, 1]


def test_the_published_forms_step_by_step() -> None:
    # accents taken apart, punctuation gone without a space, then the articles
    assert loft_form("  The U.S.  Army's a-b, an Émigré ") == "us armys ab e\u0301migre\u0301"
    # accents stay; a spaced hyphen, colon or 's is joined first
    assert icr2_form("The Émigré - Rome : John 's an U.S. a-b") == "émigréromejohns us ab"


@pytest.mark.parametrize("answers", [[], ["<unk>"], ["", " ?! "], [" <unk> "]])
def test_unlabelled(answers: list[str]) -> None:
    """Nothing to score against, rather than a crash or a point."""
    assert NQ.usable(answers) == []


def test_an_answer_of_articles_is_usable() -> None:
    assert NQ.usable(["A", "<unk>", "Ann", "Ann"]) == ["A", "Ann", "Ann"]
