"""Answers read from raw outputs; what cannot be read is None, never an empty string."""

import re
from typing import NamedTuple

from builders.prompts import FACT_LABELS, prompt_kind

_REASONING = re.compile(r"<think>.*?</think>", re.DOTALL)
_CUE = re.compile(r"^[\s*#]*(?:answer|judge?ment)[\s*]*:[\s*]*", re.IGNORECASE | re.MULTILINE)  # also in Markdown bold
_LABEL_WORDS = {word: label for label, asked in FACT_LABELS.items() for word in (label, asked)}
_LABEL = re.compile(rf"(?P<negated>(?:\bnot|n['’]t)\s+)?\b(?P<word>{'|'.join(_LABEL_WORDS)})\b", re.IGNORECASE)
_OTHER_LABEL = dict(zip(FACT_LABELS, reversed(FACT_LABELS), strict=True))


class Parsed(NamedTuple):
    """An answer, how many answers the output gave, and whether the output broke off before any."""

    answer: str | None
    n_answers: int = 1
    truncated: bool = False


def parse(task: str, output: str) -> Parsed:
    """The answer in an output: a KILT label for a fact task, else the text of the first answer."""
    text = _without_reasoning(output)
    if text is None:
        return Parsed(None, 0, truncated=True)
    if prompt_kind(task) == "fact":
        label = _label(text)
        return Parsed(label, int(label is not None))
    answers = _answers(text)
    return Parsed(answers[0], len(answers)) if answers else Parsed(None, 0)


def _label(text: str) -> str | None:
    """The label of the first word that names one; `not true` names the other."""
    found = _LABEL.search(text)
    if not found:
        return None
    label = _LABEL_WORDS[found["word"].upper()]
    return _OTHER_LABEL[label] if found["negated"] else label


def _without_reasoning(output: str) -> str | None:
    """The output without `<think>` blocks, one whose start stands in the prompt included; None if one never ends."""
    text = _REASONING.sub("", output).rpartition("</think>")[2]
    return None if "<think>" in text else text.strip()


def _answers(text: str) -> list[str]:
    """The stretches after each cue where the text begins with one, else the whole text; empty ones left out."""
    before, *after = _CUE.split(text)
    stretches = after if after and not before.strip() else [text]
    return [stretch.strip() for stretch in stretches if stretch.strip()]
