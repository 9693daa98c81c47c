"""What every source's questions have in common: their answers, and when they cannot be built."""

from collections.abc import Iterable, Sequence

from builders.schema import AnswerKind, Quote, Span
from builders.sources.clean import decode_entities
from builders.text import normalise

_UNLABELLED = "<unk>"


def distinct_answers(answers: Iterable[str]) -> list[str]:
    """Answers without entities, each once, in their order; none for an unlabelled record."""
    decoded = (decode_entities(answer).strip() for answer in answers)
    return list(dict.fromkeys(answer for answer in decoded if answer and answer != _UNLABELLED))


def answer_kind(canonical: str) -> AnswerKind:
    """Whether an answer of a question is text of the knowledge source, or yes or no."""
    return "yesno" if normalise(canonical) in ("yes", "no") else "text"


def left_out(query: str, answers: Sequence[str], provenance: Sequence[Span | Quote]) -> str | None:
    """Why a question cannot be built, or None when it can."""
    if not query:
        return "empty_input"
    if not answers:
        return "no_answer"
    return None if provenance else "no_gold"
