"""ROUGE-L: by rouge-score, strict, and as KILT counts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_harness.scoring.dialogue import DIALOGUE
from eval_harness.scoring.measures.rouge_l import score
from tests.eval_harness.specs import WOW

WORDS = st.lists(st.sampled_from("a b the Cat cat dogs dog café 12 x-y .".split()), max_size=8).map(" ".join)


def kilt(prediction: str, answer: str) -> float:
    return DIALOGUE.score(prediction, [answer])["rouge_l_kilt"]


def test_by_hand() -> None:
    # common subsequence "the cat on mat", 4 words of 4 and of 6: 2 * 1 * 2/3 / (1 + 2/3) = 0.8
    want = pytest.approx(0.8)
    assert score("The cat on mat", ["the cat sat on the mat"]) == {"rouge_l": want, "rouge_l_strict": want}


def test_the_best_answer_counts_and_nothing_is_stemmed() -> None:
    assert score("dogs", ["cats", "dogs"])["rouge_l"] == 1
    assert score("dogs", ["dog"])["rouge_l"] == 0


@pytest.mark.parametrize(
    ("gold", "prediction", "official", "strict"), [("Beyoncé", "Beyonc", 1, 0), ("café", "cafe", 0, 1)]
)
def test_accents(gold: str, prediction: str, official: int, strict: int) -> None:
    """Accented letters count."""
    assert score(prediction, [gold]) == {"rouge_l": official, "rouge_l_strict": strict}


def test_other_scripts() -> None:
    assert score("東京", ["東京"])["rouge_l_strict"] == 1


@given(WORDS, WORDS)
def test_rouge_score_is_what_the_definition_says(prediction: str, gold: str) -> None:
    one, other = (re.findall("[a-z0-9]+", text.lower()) for text in (prediction, gold))
    common = longest_common_subsequence(tuple(one), tuple(other))
    f = 2 * common / (len(one) + len(other)) if common else 0
    assert score(prediction, [gold])["rouge_l"] == pytest.approx(f)


def longest_common_subsequence(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """The length, by the definition's recursion."""
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest_common_subsequence(one[1:], other[1:])
    return max(longest_common_subsequence(one[1:], other), longest_common_subsequence(one, other[1:]))


def test_kilt_by_hand() -> None:
    # 2 distinct words shared, of 2 predicted and of 4: R 1/2, P 1
    assert kilt("the cat", "the cat sat on") == pytest.approx(2 / 3)
    # distinct words: one shared, of 1 and of 2
    assert kilt("no no no", "no way") == pytest.approx(2 / 3)
    # case and punctuation are kept
    assert kilt("Cat", "cat") == kilt("cat,", "cat") == 0
    # sentences are matched each with each, so their order is free: all of 4 words
    assert kilt("a b. c d", "c d. a b") == pytest.approx(1)
    # of two longest subsequences, a and b, the one that ends the answer: b, found once, of 2 words and 2
    assert kilt("b a. b", "a b") == pytest.approx(1 / 2)
    # within one sentence order is not free: 2 of 4
    assert kilt("a b c d", "c d a b") == pytest.approx(1 / 2)


@pytest.mark.parametrize("empty", ["", ".", " . "])
def test_kilt_gives_nothing_for_an_empty_prediction(empty: str) -> None:
    assert kilt(empty, "word.") == 0


def test_dialogue_also_has_token_f1() -> None:
    """KILT reports F1 for dialogue"""
    found = DIALOGUE.score("The red rock", ["a red city"])
    assert (found["token_f1"], found["token_f1_strict"]) == (0.5, 0.5)


@pytest.mark.parametrize("answers", [[], ["<unk>"], ["", " ?! "]])
def test_unlabelled(answers: list[str]) -> None:
    """No answer to score against."""
    assert WOW.usable(answers) == []
