"""A task: its kind, and everything that follows from the kind, as data."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from builders.errors import shown
from builders.registry import Registry
from builders.schema import AnswerKind
from builders.text import normalise

KindName = Literal["qa", "fact", "dialogue", "set", "needle"]
KIND_NAMES: tuple[KindName, ...] = get_args(KindName)

# names alone, by which a recipe is checked; `eval_harness.scoring.registry` has the scorers
OWN_SCORERS = ("qa", "label", "dialogue", "set", "needle", "all_needles")
SCORER_NAMES: Registry[object] = Registry("icr2.scorers", "scorer", dict.fromkeys(OWN_SCORERS), object)


class Template(NamedTuple):
    """The words of a prompt around passages and query; `{labels}` is replaced by the task's labels.

    With `speakers`, each line of the query is the turn of one of them, in order; the prompt ends with who is next.
    """

    with_passages: str
    without: str
    before_query: str
    after_query: str
    reply: str  # name of the output, where evidence is requested after it
    speakers: tuple[str, ...] = ()


class TaskSpec(NamedTuple):
    """A task as the manifest records it: its kind, its labels, its scorer.

    `labels` maps each label of the source to the word that the prompt asks for; empty for all kinds but `fact`.
    `source` is the source's name for the task.
    """

    name: str
    kind: KindName
    labels: Mapping[str, str] = {}
    scorer: str = ""
    source: str = ""

    @property
    def says(self) -> "Kind":
        """The properties of its kind."""
        return KINDS[self.kind]

    @property
    def scored_by(self) -> str:
        """The name of its scorer."""
        return self.scorer or self.says.scorer

    def usable(self, answers: Sequence[str]) -> list[str]:
        """The answers that an output can be scored against; without any, the row is unscorable."""
        return self.says.usable(answers, self.labels)


class Kind(NamedTuple):
    """The properties of every task of a kind.

    `extractive`: the answer is expected to occur in gold, and must not occur in other passages.
    """

    says: str
    template: Template
    usable: Callable[[Sequence[str], Mapping[str, str]], list[str]]
    scorer: str
    max_new_tokens: int
    answer_kind: AnswerKind
    extractive: bool


def _texts(answers: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """Answers that contain a word; KILT's `<unk>` means no answer."""
    return [answer for answer in answers if answer.strip() != "<unk>" and normalise(answer)]


def _labels(answers: Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """Answers that are labels of the task, in the task's spelling."""
    by_key = {label.casefold(): label for label in labels}
    return [by_key[key] for answer in answers if (key := answer.strip().casefold()) in by_key]


_QUESTION = Template(
    "Please answer the following question given the following passages:\n",
    "Please answer the following question:\n",
    "Question: ",
    "\nAnswer:",
    "answer",
)
_CLAIM = Template(
    "According to the following passages, please verify the given claim "
    "and predict your judgment on its factuality as {labels}:\n",
    "Please verify the given claim and predict your judgment on its factuality as {labels}:\n",
    "Claim: ",
    "\nJudgement:",
    "judgement",
)
_CONVERSATION = Template(
    "According to the given passages, please provide a single response to complete the following conversation "
    "by role-playing as either Person A or Person B. Your response should be as knowledgeable and coherent with "
    "the conversation history as possible:\n",
    "Please provide a single response to complete the following conversation by role-playing as either Person A "
    "or Person B. Your response should be as knowledgeable and coherent with the conversation history as "
    "possible:\n",
    "Conversation:\n",
    "",
    "response",
    ("Person A", "Person B"),
)

KINDS: dict[KindName, Kind] = {
    "qa": Kind("a question, answered by any one of its answers", _QUESTION, _texts, "qa", 64, "text", True),
    "fact": Kind("a claim, judged by one of the task's labels", _CLAIM, _labels, "label", 32, "label", False),
    "dialogue": Kind("a conversation, continued", _CONVERSATION, _texts, "dialogue", 128, "text", False),
    "set": Kind("a question, answered by all of its answers", _QUESTION, _texts, "set", 64, "text", True),
    "needle": Kind(
        "a question, answered by a name hidden in a haystack", _QUESTION, _texts, "needle", 64, "text", True
    ),
}


def spoken(labels: Sequence[str]) -> str:
    """Labels as a prompt lists them: `TRUE or FALSE`; `A, B or C`."""
    *some, last = labels
    return f"{', '.join(some)} or {last}" if some else last


def labels_of(written: Any) -> Any:
    """Labels as a mapping from label to the word in the prompt; a list maps each label to itself."""
    words = [*written, *written.values()] if isinstance(written, dict) else written
    for word in words if isinstance(words, list) else []:
        if not isinstance(word, str):
            raise ValueError(f"{word!r} is not text; write it in quotes")  # YAML reads NO and TRUE as booleans
    return {label: label for label in written} if isinstance(written, list) else written


def distinct_labels(labels: dict[str, str]) -> dict[str, str]:
    """The labels; ValueError where two labels or words are equal ignoring case, or one is empty."""
    for words in (labels.keys(), labels.values()):
        if len({word.strip().casefold() for word in words} - {""}) < len(labels):
            raise ValueError(f"{', '.join(map(repr, words))}: labels, and their words, must differ and not be empty")
    return labels


def check_scorer(name: str) -> str:
    """The name of a scorer that is there; ValueError for another."""
    if name not in SCORER_NAMES:
        raise ValueError(f"no scorer {shown(name)}; available: {', '.join(SCORER_NAMES)}")
    return name


def check_labels(kind: KindName, labels: Mapping[str, str]) -> None:
    """ValueError unless claims have at least two labels and tasks of other kinds have none."""
    if kind == "fact" and len(labels) < 2:
        raise ValueError("the kind fact needs the labels of the claims, such as labels: [SUPPORTS, REFUTES]")
    if kind != "fact" and labels:
        raise ValueError(f"the kind {kind} has no labels; leave them out, or write kind: fact")
