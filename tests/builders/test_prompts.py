"""The templates of the paper's table 8, word for word but for the mark of the chat template."""

import pytest

from builders.prompts import frame, question, render
from builders.tasks import KindName, TaskSpec

NQ = TaskSpec("nq", "qa")
FEVER = TaskSpec("fever", "fact", {"SUPPORTS": "TRUE", "REFUTES": "FALSE"})
WOW = TaskSpec("wow", "dialogue")


def test_question_answering() -> None:
    prompt = render(NQ, "who wrote it", [("Frankenstein", "Mary Shelley wrote it."), ("Oslo", "A city.")])
    assert prompt.text == (
        "Please answer the following question given the following passages:\n"
        "ID: 1\nTitle: Frankenstein\nContext: Mary Shelley wrote it.\n"
        "ID: 2\nTitle: Oslo\nContext: A city.\n"
        "Question: who wrote it\nAnswer:"
    )


def test_fact_verification_and_dialogue() -> None:
    fact = render(FEVER, "Oslo is a city.", [("Oslo", "A city.")]).text
    assert fact.startswith(
        "According to the following passages, please verify the given claim and predict your judgment on its "
        "factuality as TRUE or FALSE:\n"
    )
    assert fact.endswith("Claim: Oslo is a city.\nJudgement:")
    dialogue = render(WOW, "Hi\nHello", [("Oslo", "A city.")]).text
    assert "role-playing as either Person A or Person B" in dialogue
    assert dialogue.endswith("Conversation:\nPerson A: Hi\nPerson B: Hello\nPerson A:")


def test_turns_have_speakers_and_the_prompt_ends_with_the_next_one() -> None:
    """Table 8 asks for a response by Person A or Person B; a blank line is no turn."""
    assert render(WOW, "Hi", []).text.endswith("\nConversation:\nPerson A: Hi\nPerson B:")
    assert question(WOW, "Hi\n\n  Hello \nWho?") == (
        "Conversation:\nPerson A: Hi\nPerson B: Hello\nPerson A: Who?\nPerson B:"
    )
    cited = question(WOW, "Hi", cites=True)
    assert cited.startswith("Conversation:\nPerson A: Hi\nAfter the response,") and cited.endswith("\nPerson B:")


def test_a_claim_is_judged_by_the_labels_of_its_task() -> None:
    words = {"SUPPORTED": "SUPPORTED", "REFUTED": "REFUTED", "NEI": "NOT ENOUGH INFO"}
    text = render(TaskSpec("hover", "fact", words), "Oslo is a city.", []).text
    assert text.splitlines()[0] == (
        "Please verify the given claim and predict your judgment on its factuality as "
        "SUPPORTED, REFUTED or NOT ENOUGH INFO:"
    )


def test_a_template_keeps_braces_of_the_query() -> None:
    assert render(FEVER, "{labels} {0}", []).text.endswith("as TRUE or FALSE:\nClaim: {labels} {0}\nJudgement:")


@pytest.mark.parametrize("kind", ["set", "needle"])
def test_sets_and_needles_are_asked_as_questions(kind: KindName) -> None:
    assert render(TaskSpec("t", kind), "q", [("A", "b")]) == render(NQ, "q", [("A", "b")])


@pytest.mark.parametrize("task", [NQ, FEVER, WOW], ids=lambda task: task.name)
def test_a_frame_is_the_prompt_less_its_passages(task: TaskSpec) -> None:
    prompt = render(task, "q", [("A", "b"), ("C", "d")])
    start, end = prompt.spans[0][0], prompt.context_end
    assert frame(task, "q") == prompt.text[:start] + prompt.text[end:]


def test_closed_book_names_no_passages() -> None:
    for task in (NQ, FEVER, WOW):
        text = render(task, "q", []).text
        assert "passages" not in text
        assert "ID:" not in text


@pytest.mark.parametrize("task", [NQ, FEVER, WOW])
def test_spans_cut_out_the_blocks(task: TaskSpec) -> None:
    passages = [("A", "ID: 2 inside"), ("B\n", "Question: x"), ("é", "𝒳")]
    prompt = render(task, "q", passages)
    cut = [prompt.text[start:end] for start, end in prompt.spans]
    assert cut == [f"ID: {n}\nTitle: {title}\nContext: {text}\n" for n, (title, text) in enumerate(passages, 1)]


@pytest.mark.parametrize("task", [NQ, FEVER, WOW])
def test_a_template_that_trims_loses_nothing(task: TaskSpec) -> None:
    """No cue ends in a space."""
    text = render(task, "q", [("A", "b")]).text
    assert text == text.strip()


def test_the_citing_variant_asks_between_question_and_cue() -> None:
    prompt = render(NQ, "who wrote it", [("Oslo", "A city.")], cites=True)
    assert prompt.text == (
        "Please answer the following question given the following passages:\n"
        "ID: 1\nTitle: Oslo\nContext: A city.\n"
        "Question: who wrote it\n"
        'After the answer, on a new line, write "Evidence:" and the IDs of the passages that it is based on, '
        'in square brackets, or "none".\n'
        "Answer:"
    )
    assert '\nAfter the judgement, on a new line, write "Evidence:"' in render(FEVER, "q", [], cites=True).text
    assert render(WOW, "Hi", [], cites=True).text.endswith(
        'Hi\nAfter the response, on a new line, write "Evidence:" '
        'and the IDs of the passages that it is based on, in square brackets, or "none".\nPerson B:'
    )


@pytest.mark.parametrize("task", [NQ, FEVER, WOW])
def test_both_variants_begin_alike(task: TaskSpec) -> None:
    """So that a model needs to read the passages once."""
    passages = [("A", "b"), ("C", "d")]
    plain, citing = render(task, "q", passages), render(task, "q", passages, cites=True)
    assert plain.spans == citing.spans
    assert plain.context_end == plain.spans[-1][1] > 0
    assert plain.text[: plain.context_end] == citing.text[: citing.context_end]
    assert render(task, "q", []).context_end == 0
    assert citing.text == citing.text.strip()
