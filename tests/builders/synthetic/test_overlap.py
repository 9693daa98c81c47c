import pytest

from builders.synthetic.overlap import content_words, shared_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Who keeps bees?", "They kept the bees warm."),  # lemma
        ("Who taught history?", "She teaches French."),
        ("Who has mice?", "A mouse ran by."),
        ("Who reads stories?", "One story is enough."),  # stem
        ("Who is running?", "He runs."),
        ("Who speaks German?", "He lives in Germany."),  # family
        ("Who is a teacher?", "He teaches."),
        ("Who sells a larger house?", "The house is large."),
        ("Who visited BELÉM?", "She painted belem."),  # case and accents
        ("Who owns the child's toy?", "The children left."),
    ],
)
def test_a_shared_word_is_found_in_any_form(one: str, other: str) -> None:
    assert shared_words(one, other)
    assert shared_words(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Which character has been to Lisbon?", "Tove lives right beside the Belém Tower."),
        ("Which of them was there?", "He was there with them."),  # stop words alone
        ("Who has a car?", "He has a cart."),  # a stem of three letters begins many words
        ("", "Nothing to see."),
    ],
)
def test_no_word_is_shared(one: str, other: str) -> None:
    assert shared_words(one, other) == []


def test_the_pair_is_named() -> None:
    assert shared_words("Who went to Rome?", "Ada goes to Rome.") == [("went", "goes"), ("rome", "rome")]


def test_content_words_are_stems_of_words_and_of_lemmas() -> None:
    # Porter: stori for stories; taught stays, its lemma is teach
    assert content_words("She taught the stories.") == {"taught", "teach", "stori"}
