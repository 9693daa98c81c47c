"""The corpus-in-context prompts of the paper's table 8, and the span of each passage in them.

The `[INST]` tags of the table are one model family's chat template; here the code that runs a model applies the
model's own template. Passages are numbered from 1 in order.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from builders.tasks import TaskSpec, spoken

VERSION = "2"  # 2: the turns of a conversation have speakers, and the prompt ends with the next one's name
CITING_VERSION = "1"  # of the variant that asks for evidence; its passages and questions follow VERSION

BLANK_LINE = "\n\n"

# The citing variant's request, between query and cue, so that it begins like the plain prompt.
_CONTRACT = (
    'After the {}, on a new line, write "Evidence:" and the IDs of the passages that it is based on, '
    'in square brackets, or "none".'
)


class Prompt(NamedTuple):
    """A rendered prompt; `spans[i]` is the half-open character range of passage i's block in `text`."""

    text: str
    spans: list[tuple[int, int]]

    @property
    def context_end(self) -> int:
        """The end of the last passage in `text`, 0 without passages: prompts may share the text before it."""
        return self.spans[-1][1] if self.spans else 0


def render(task: TaskSpec, query: str, passages: Iterable[tuple[str, str]], cites: bool = False) -> Prompt:
    """The prompt of a task's kind for a query over (title, text) passages; without passages, the closed-book form.

    With `cites` it also asks for the numbers of the passages that the answer is based on.
    """
    blocks = [block(number, title, text) for number, (title, text) in enumerate(passages, start=1)]
    head, tail = _instruction(task, with_passages=bool(blocks)), question(task, query, cites)
    spans, at = [], len(head)
    for text in blocks:
        spans.append((at, at + len(text)))
        at += len(text)
    return Prompt(head + "".join(blocks) + tail, spans)


def frame(task: TaskSpec, query: str) -> str:
    """A prompt's text before its passages."""
    return _instruction(task, with_passages=True) + question(task, query)


def question(task: TaskSpec, query: str, cites: bool = False) -> str:
    """The end of a prompt: the query with its cue. It ends without a space, so that no template can trim it."""
    template = task.says.template
    contract = f"\n{_CONTRACT.format(template.reply)}" if cites else ""
    asked, cue = _turns(query, template.speakers) if template.speakers else (query, template.after_query)
    return f"{template.before_query}{asked}{contract}{cue}"


def _turns(query: str, speakers: Sequence[str]) -> tuple[str, str]:
    """A conversation, a turn a line, with the names of its speakers; and the cue of whose turn it is."""
    turns = [turn.strip() for turn in query.split("\n") if turn.strip()]
    *said, following = (speakers[n % len(speakers)] for n in range(len(turns) + 1))
    return "\n".join(f"{who}: {turn}" for who, turn in zip(said, turns, strict=True)), f"\n{following}:"


def _instruction(task: TaskSpec, with_passages: bool) -> str:
    template = task.says.template
    wording = template.with_passages if with_passages else template.without
    return wording.replace("{labels}", spoken([*task.labels.values()])) if task.labels else wording


def block(number: int, title: str, text: str) -> str:
    """One passage of the context, with its number."""
    return f"ID: {number}\nTitle: {title}\nContext: {text}\n"


def haystack(texts: Iterable[str]) -> str:
    """The passages of a haystack as one text, for embedding models, without a prompt."""
    return BLANK_LINE.join(texts)
