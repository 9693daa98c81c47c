"""Terms that are added to questions, from a file or written by a model."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from builders.errors import SetupError
from eval_harness.models.base import Model

TERMS = (100, 150, 250)  # as many as the post tried
_TOKENS_PER_TERM = 6  # of a model's output
_MOST_WORDS = 6  # of a term; longer ones are sentences
_ASK = (
    "List {n} different words or short phrases that could stand in a text which answers the last question: synonyms, "
    "related names, places, objects and activities. Separate them by commas. Do not answer the question; write the "
    "list and nothing else.\n\n"
    "Question: Which character paints?\nList: painter, artist, brush, canvas, easel, oil paint, watercolour, gallery, "
    "...\n\n"
    "Question: {question}\nList:"
)
_BETWEEN = re.compile(r"[,;\n]")
_BULLET = re.compile(r"^(?:[-*•]+|[0-9]+[.)])\s*")

Expansions = Mapping[str, Sequence[str]]
"""The terms of each question."""


def expanded(question: str, terms: Sequence[str], n: int) -> str:
    """The question with its first n terms after it; the question alone for n = 0."""
    return f"{question} {', '.join(terms[:n])}" if n and terms else question


def read_terms(path: Path) -> dict[str, list[str]]:
    """The terms of a file of JSON lines `{"question": ..., "terms": [...]}`; SetupError names a line that is none."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"{path} cannot be read ({error}); give JSON lines of questions and terms") from None
    found: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            question, terms = values["question"], values["terms"]
        except (ValueError, KeyError, TypeError):
            question, terms = None, None
        if not isinstance(question, str) or not isinstance(terms, list) or not all(isinstance(t, str) for t in terms):
            raise SetupError(f'{path}, line {number}: wanted {{"question": "...", "terms": ["...", ...]}}')
        if question in found:
            raise SetupError(f"{path}, line {number}: a second time the question {question!r}")
        found[question] = terms
    return found


def terms_for(questions: Iterable[str], terms: Expansions, path: Path) -> dict[str, list[str]]:
    """The terms of these questions alone; SetupError names one that has none."""
    found = {question: list(terms.get(question, ())) for question in questions}
    if missing := [question for question, own in found.items() if not own]:
        raise SetupError(f"{path} has no terms for {len(missing)} questions, such as {missing[0]!r}")
    return found


def written_terms(
    questions: Sequence[str], model: Model, n: int, kept: Path, advance: Callable[[], None]
) -> dict[str, list[str]]:
    """The terms that a model writes for each question, at most n; added to the file `kept`, which is gone on with.

    A question for which the model wrote none keeps an empty list, and is asked as it is; SetupError where all are so.
    """
    found = _kept(kept)
    for question in questions:
        if question not in found:
            generation = model.generate([_ASK.format(n=n, question=question)], n * _TOKENS_PER_TERM)[0]
            found[question] = terms_in(generation.text)[:n]
            kept.parent.mkdir(parents=True, exist_ok=True)
            with kept.open("a", encoding="utf-8") as file:
                line = {"question": question, "terms": found[question]}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        advance()
    if not any(found[question] for question in questions):
        raise SetupError(f"{model.name} wrote a list of terms for no question; name a larger model, or a file of terms")
    return {question: found[question] for question in questions}


def terms_in(output: str) -> list[str]:
    """The terms of a list with commas, semicolons or lines between them, each once; sentences are left out."""
    found: dict[str, str] = {}
    for part in _BETWEEN.split(output):
        term = _BULLET.sub("", part.strip()).strip(" .\"'")
        if term and len(term.split()) <= _MOST_WORDS:
            found.setdefault(term.casefold(), term)
    return list(found.values())


def _kept(path: Path) -> dict[str, list[str]]:
    """What a run that was stopped has left; a line that was cut off is written anew."""
    if not path.exists():
        return {}
    whole, _, _ = path.read_text(encoding="utf-8").rpartition("\n")
    path.write_text(f"{whole}\n" if whole else "", encoding="utf-8")
    return read_terms(path)
