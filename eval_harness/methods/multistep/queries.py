"""The prompts that ask a model for search queries, and the queries in what it writes."""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

from builders.prompts import Prompt, block
from builders.text import normalise
from eval_harness.data.dataset import Passage
from eval_harness.models.thoughts import without_thoughts

Style = Literal["vanilla", "plan"]

_VANILLA = """\
The question below is to be answered with the help of Wikipedia. Write {queries} that would find articles which help to
answer it{one_per_line}, and nothing else.
Question: {question}
{found}Queries:
"""

_PLAN = """\
The question below rests on facts from several Wikipedia articles, which a keyword search finds one after another. Plan
the search, and go on from what has been found.
Think step by step: which facts does the question need, which of them do the articles found so far give, and which one
is to be looked for next? Say it in a few sentences. Then write a line "Queries:" and below it {queries}{one_per_line}.
A good query names one person, work, place, event or list in a few words. When a step has given a name, search for the
name and no longer for its description. When a query has not found what you need, try another name for it, or the list
that it belongs to. Never write a query again that was asked before.

Example of a search:
Question: Who was president of the United States when the architect of the Sagrada Família died?
The architect is not known yet. Queries: Sagrada Família architect
Found that it is Antoni Gaudí; the year of his death is needed. Queries: Antoni Gaudí death
He died in 1926; now the president of that year. Queries: List of presidents of the United States

Question: {question}
{found}{asked}Think step by step, then write the queries:
"""

_PROMPTS: dict[Style, str] = {"vanilla": _VANILLA, "plan": _PLAN}
DIGEST = sha256("\x1f".join(_PROMPTS.values()).encode()).hexdigest()

_CUE = re.compile(r"^.*?\bqueries\b[^:\n]*:[\s*]*", re.IGNORECASE | re.MULTILINE)
_MARK = re.compile(r"^\s*(?:[-*•>]+|\(?[0-9]{1,2}\s*[.):]|query\s*[0-9]*\s*:)\s*", re.IGNORECASE)
_QUOTES = "\"'“”‘’«»`* \t"


def query_prompt(style: Style, question: str, articles: Sequence[Passage], asked: Sequence[str], n: int) -> Prompt:
    """The prompt for `n` queries after the articles found so far; the planning one also lists the queries asked."""
    blocks = [block(number, article.title, article.text) for number, article in enumerate(articles, start=1)]
    found = f"Articles found so far:\n{''.join(blocks)}" if blocks else ""
    listed = "".join(f"- {query}\n" for query in asked)
    text = _PROMPTS[style].format(
        question=question,
        queries="one search query" if n == 1 else f"up to {n} search queries",
        one_per_line="" if n == 1 else ", one per line",
        found=found,
        asked=f"Queries asked so far:\n{listed}" if asked else "",
    )
    return Prompt(text.rstrip("\n"), [])


def queries_in(style: Style, output: str, n: int) -> list[str]:
    """The first `n` queries in an output, a line each: those after its last cue, else of a plan the lines of a list.

    A plan with neither has its last line for a query. List marks and quotation marks around a query are taken off, and
    lines without a word left out. An output that never stops thinking has none.
    """
    text = without_thoughts(output)
    if text is None:
        return []
    cues = [*_CUE.finditer(text)]
    lines = (text[cues[-1].end() :] if cues else text).splitlines()
    if style == "plan" and not cues:
        lines = [line for line in lines if _MARK.match(line)] or [line for line in lines if normalise(line)][-1:]
    return [query for line in lines if normalise(query := _MARK.sub("", line).strip(_QUOTES))][:n]
