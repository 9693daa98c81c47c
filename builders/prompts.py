"""The corpus-in-context prompts of the paper's table 8, and where each passage stands in them.

The `[INST]` marks of the table are one model family's chat template; here a model's own template is put around
the text by whoever runs the model. Passages are numbered from 1 in the order in which they stand.
"""

from collections.abc import Iterable
from typing import NamedTuple

VERSION = "1"
CITING_VERSION = "1"  # of the variant that asks for evidence; its passages and questions are those of VERSION

BLANK_LINE = "\n\n"

FACT_LABELS = {"SUPPORTS": "TRUE", "REFUTES": "FALSE"}  # what table 8 asks for, by KILT's label

# (instruction with passages, instruction without, what stands around the query)
_TEMPLATES = {
    "qa": (
        "Please answer the following question given the following passages:\n",
        "Please answer the following question:\n",
        ("Question: ", "\nAnswer:"),
    ),
    "fact": (
        "According to the following passages, please verify the given claim "
        "and predict your judgment on its factuality as TRUE or FALSE:\n",
        "Please verify the given claim and predict your judgment on its factuality as TRUE or FALSE:\n",
        ("Claim: ", "\nJudgement:"),
    ),
    "dialogue": (
        "According to the given passages, please provide a single response to complete the following conversation "
        "by role-playing as either Person A or Person B. Your response should be as knowledgeable and coherent with "
        "the conversation history as possible:\n",
        "Please provide a single response to complete the following conversation by role-playing as either Person A "
        "or Person B. Your response should be as knowledgeable and coherent with the conversation history as "
        "possible:\n",
        ("Conversation: ", ""),
    ),
}

# What the citing variant asks for between query and cue, so that it begins as the plain prompt does.
_CONTRACT = (
    'After the {}, on a new line, write "Evidence:" and the IDs of the passages that it is based on, '
    'in square brackets, or "none".'
)
_REPLIES = {"qa": "answer", "fact": "judgement", "dialogue": "response"}

TASK_PROMPTS = {"fever": "fact", "wow": "dialogue"}  # every other task is a question


class Prompt(NamedTuple):
    """A rendered prompt; `spans[i]` is the half-open character range of passage i's block in `text`."""

    text: str
    spans: list[tuple[int, int]]

    @property
    def context_end(self) -> int:
        """Where the last passage ends in `text`, 0 without passages: up to there, prompts may be alike."""
        return self.spans[-1][1] if self.spans else 0


def render(task: str, query: str, passages: Iterable[tuple[str, str]], cites: bool = False) -> Prompt:
    """The prompt of table 8 for a task's query over (title, text) passages; without passages, the closed-book form.

    With `cites` it also asks for the numbers of the passages that the answer is based on.
    """
    with_passages, without, _ = _TEMPLATES[prompt_kind(task)]
    blocks = [block(number, title, text) for number, (title, text) in enumerate(passages, start=1)]
    head, tail = with_passages if blocks else without, question(task, query, cites)
    spans, at = [], len(head)
    for text in blocks:
        spans.append((at, at + len(text)))
        at += len(text)
    return Prompt(head + "".join(blocks) + tail, spans)


def prompt_kind(task: str) -> str:
    """Which of table 8's three templates a task uses: `qa`, `fact` or `dialogue`."""
    return TASK_PROMPTS.get(task, "qa")


def question(task: str, query: str, cites: bool = False) -> str:
    """The end of a prompt: the query with its cue. It ends without a space, so that no template can trim it."""
    kind = prompt_kind(task)
    before, after = _TEMPLATES[kind][2]
    contract = f"\n{_CONTRACT.format(_REPLIES[kind])}" if cites else ""
    return f"{before}{query}{contract}{after}"


def block(number: int, title: str, text: str) -> str:
    """One passage of the context, with its number."""
    return f"ID: {number}\nTitle: {title}\nContext: {text}\n"


def haystack(texts: Iterable[str]) -> str:
    """The passages of a haystack as one text, which embedding models are given without any prompt."""
    return BLANK_LINE.join(texts)


def frame(task: str, query: str) -> str:
    """A prompt with passages, less the passages."""
    return _TEMPLATES[prompt_kind(task)][0] + question(task, query)
