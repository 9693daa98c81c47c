"""Thoughts of a model before its answer: their marks, and the output without them.

Marks are those of model families: tags such as `<think>` and
`<seed:think>`, Magistral's `[THINK]`, Command A's `<|START_THINKING|>`, Kimi's `◁think▷`, MedGemma's unused tokens,
Gemma's and gpt-oss's channels, and Granite's two sentences.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from builders.errors import SetupError

Marks = tuple[str, str]  # what opens and what closes thoughts
OURS: Marks = ("<think>", "</think>")  # what marks that a user names become

_PAIRS: tuple[Marks, ...] = (
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|think_start|>", "<|think_end|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|thinking|>", "<|/thinking|>"),
    ("<|think|>", "<|/think|>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>", "<channel|>"),
    ("<unused94>", "<unused95>"),  # MedGemma's
)
_WORDS = "think|thinking|thoughts?|reason|reasoning|analysis|reflection|scratchpad"
_TAG = re.compile(rf"<(?P<closes>/?)(?P<name>(?:\w+[:_])?(?:{_WORDS}))>", re.IGNORECASE)
_BRACKET = re.compile(r"\[(?P<closes>/?)(?P<name>THINK|THINKING|REASONING)\]")
_PAIRED = re.compile("|".join(re.escape(mark) for pair in _PAIRS for mark in pair))
_SENTENCES = re.compile(r"\s*Here(?: is|['’]s) my thought process:", re.IGNORECASE)
_RESPONSE = re.compile(r"Here(?: is|['’]s) my response:", re.IGNORECASE)
_WRAPPERS: tuple[Marks, ...] = (  # around answers of models that think
    ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    ("<|begin_of_solution|>", "<|end_of_solution|>"),
    ("<response>", "</response>"),
    ("<answer>", "</answer>"),
    ("<output>", "</output>"),
)
_CHANNEL = "<|channel|>"
_HARMONY = frozenset(f"<|{name}|>" for name in "start end message channel constrain return call".split())
_MESSAGE = re.compile(
    r"<\|channel\|>\s*(?P<channel>\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>(?P<body>.*?)"
    r"(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
# The same where a server has dropped the control tokens.
_NO_MARKS = re.compile(r"\s*analysis(?=[A-Z]).*?(?:assistantfinal(?P<final>.*)|\Z)", re.DOTALL)


class _Mark(NamedTuple):
    """A mark in a text: its kind is equal for two that belong together."""

    kind: str
    closes: bool
    start: int
    end: int


def without_thoughts(output: str) -> str | None:
    """The output without its thoughts and without marks around the answer; None if thoughts never end.

    Thoughts may have begun in the prompt, so that the output has only their closing mark.
    """
    if _CHANNEL in output:
        found = [message["body"] for message in _MESSAGE.finditer(output) if message["channel"] == "final"]
        return "\n".join(found).strip() if found else None
    if lost := _NO_MARKS.match(output):
        return None if lost["final"] is None else lost["final"].strip()
    if begun := _SENTENCES.match(output):
        response = _RESPONSE.search(output, begun.end())
        return output[response.end() :].strip() if response else None
    text = _outside(output)
    return None if text is None else _unwrapped(text.strip())


def named(output: str, marks: Marks | None) -> str:
    """The output with the marks that a user names written as `<think>` and `</think>`."""
    for mark, ours in zip(marks or (), OURS, strict=False):
        output = output.replace(mark, ours)
    return output


def opened(text: str, marks: Marks | None = None) -> str:
    """The end of a prompt from where thoughts begin that it leaves open, "" where it leaves none open."""
    text = named(text, marks)
    if (at := text.rfind(_CHANNEL)) >= 0:
        header = re.fullmatch(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|message\|>)?", text[at:])
        return text[at:].rstrip() if header else ""
    found = [*_marks(text)]
    return text[found[-1].start : found[-1].end] if found and not found[-1].closes else ""


def kept_tokens(tokens: Collection[str], marks: Marks | None = None) -> set[str]:
    """Those of a tokenizer's control tokens that say what is a thought, so that a text must be read with them."""
    harmony = _HARMONY if _CHANNEL in tokens else frozenset()
    known = {*(marks or ()), *harmony, *(mark for pair in _WRAPPERS for mark in pair)}
    return {token for token in tokens if token in known or any(mark[2:] == (0, len(token)) for mark in _marks(token))}


def marks_of(written: str | None) -> Marks | None:
    """The marks that a user names as `OPEN CLOSE`; SetupError for anything but two different texts."""
    if written is None:
        return None
    parts = written.split()
    if len(parts) != 2 or parts[0] == parts[1]:
        raise SetupError(f"--thinking-marks {written!r}: write what opens and what closes, such as '<think> </think>'")
    return parts[0], parts[1]


def _outside(text: str) -> str | None:
    """The text outside of thoughts; the first mark decides which one ends them."""
    kept = ""
    while (first := next(_marks(text), None)) is not None:
        if first.closes:  # they began in the prompt
            kept, text = "", text[first.end :]
            continue
        end = next((mark.end for mark in _marks(text) if mark.closes and mark.kind == first.kind), None)
        if end is None:
            return None
        kept, text = kept + text[: first.start], text[end:]
    return kept + text


def _marks(text: str) -> Iterator[_Mark]:
    """The marks of a text, in order."""
    found = [
        _Mark(f"{at}{one['name'].casefold()}", bool(one["closes"]), *one.span())
        for at, kind in enumerate((_TAG, _BRACKET))
        for one in kind.finditer(text)
    ]
    kinds = {mark: (pair[0], mark == pair[1]) for pair in _PAIRS for mark in pair}
    found += [_Mark(*kinds[one[0]], *one.span()) for one in _PAIRED.finditer(text)]
    return iter(sorted(found, key=lambda mark: mark.start))


def _unwrapped(text: str) -> str:
    """A text without the marks around all of it; the closing one may be missing."""
    for opens, closes in _WRAPPERS:
        if text.startswith(opens):
            return text.removeprefix(opens).partition(closes)[0].strip()
        if text.endswith(closes) and opens not in text:
            return text.removesuffix(closes).strip()
    return text
