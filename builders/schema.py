"""Every record and every Arrow schema, in the order of the data flow; imports nothing of ours."""

from typing import Any, Literal, NamedTuple

import pyarrow as pa

Role = Literal["gold", "confounder", "random"]
AnswerKind = Literal["text", "label", "yesno", "none"]
Split = Literal["train", "validation", "test"]

SPLITS: tuple[Split, ...] = ("test", "validation", "train")  # the order in which questions are dealt


TO_THE_END = 2**31 - 1  # as the end of a Span: the end of its page or paragraph


class Span(NamedTuple):
    """A stretch of a page: half-open, `end_character` counted in paragraph `end_paragraph`."""

    page_id: str
    start_paragraph: int
    start_character: int
    end_paragraph: int
    end_character: int


class Page(NamedTuple):
    """A page of the knowledge source; `paragraphs[0]` is its title, as in KILT."""

    page_id: str
    title: str
    paragraphs: list[str]
    anchors: list[tuple[str, str]]  # (text of a link, title it leads to)


class Quote(NamedTuple):
    """A provenance given by a page's title and words in it, resolved to a Span at build.

    Without words it means the whole page.
    """

    title: str
    quote: str


class Question(NamedTuple):
    """A question of a task with its answers (canonical first) and every provenance of every output (P+)."""

    id: str
    task: str
    query: str
    answers: list[str]
    answer_kind: AnswerKind
    provenance: list[Span]
    hops: int
    reasoning_types: list[str]
    quotes: tuple[Quote, ...] = ()
    flags: tuple[str, ...] = ()  # what a reader of its rows must be warned of

    @property
    def text_answers(self) -> list[str]:
        """The answers to search for in passages: none where they are labels or yes/no."""
        return self.answers if self.answer_kind == "text" else []


class Target(NamedTuple):
    """A question with its gold passages, by their numbers in corpus order, and the other rows that touch P+."""

    question: Question
    gold: list[int]
    barred: list[int]


class Found(NamedTuple):
    """A candidate for a context, by its number in corpus order: its role, and the retrievers that found it.

    `rank` is the best rank, `score` that of the first retriever; gold and random passages have neither.
    """

    row: int
    role: Role = "random"
    retrievers: tuple[str, ...] = ()
    rank: int | None = None
    score: float | None = None


class Passage(NamedTuple):
    """A passage with its text, from the corpus to a row of the dataset; the rest is as in `Found`."""

    row: int
    pid: str
    title: str
    text: str
    role: Role = "random"
    retrievers: tuple[str, ...] = ()
    rank: int | None = None
    score: float | None = None

    @property
    def page_id(self) -> str:
        """Its page."""
        return self.pid.rpartition(":")[0]

    @property
    def found(self) -> Found:
        """The passage without its text."""
        return Found(self.row, self.role, self.retrievers, self.rank, self.score)

    def in_row(self) -> dict[str, Any]:
        """The passage as stored in a row of the dataset."""
        return dict(zip(self._fields[1:], self[1:], strict=True))


class Plan(NamedTuple):
    """The mixer's decision for one row of the dataset; texts are filled in when it is written."""

    id: str
    context_id: str
    config: str
    passages: list[Found]
    n_tokens: int
    confounding_ratio: float
    flags: list[str]


_TEXT = pa.large_string()  # a column of passages passes 2 GiB, where 32-bit offsets overflow

_SPAN = [
    ("start_paragraph", pa.int32()),
    ("start_character", pa.int32()),
    ("end_paragraph", pa.int32()),
    ("end_character", pa.int32()),
]

PAGES = pa.schema(
    [
        ("page_id", pa.string()),
        ("title", pa.string()),
        ("paragraphs", pa.list_(_TEXT)),
        ("anchors", pa.list_(pa.struct([("text", pa.string()), ("title", pa.string())]))),
    ]
)

PASSAGES = pa.schema([("pid", pa.string()), ("page_id", pa.string()), ("title", pa.string()), ("text", _TEXT), *_SPAN])

QUESTIONS = pa.schema(
    [
        ("id", pa.string()),
        ("task", pa.string()),
        ("split", pa.string()),
        ("query", pa.string()),
        ("answers", pa.list_(pa.string())),
        ("answer_kind", pa.string()),
        ("provenance", pa.list_(pa.struct([("page_id", pa.string()), *_SPAN]))),
        ("hops", pa.int32()),
        ("reasoning_types", pa.list_(pa.string())),
        ("flags", pa.list_(pa.string())),
    ]
)

TARGETS = QUESTIONS.append(pa.field("gold", pa.list_(pa.int64()))).append(pa.field("barred", pa.list_(pa.int64())))

RUN = pa.schema(
    [
        ("qid", pa.string()),
        ("pid", pa.string()),
        ("row", pa.int64()),
        ("score", pa.float64()),
        ("rank", pa.int32()),
    ]
)

POOL = pa.schema(
    [
        ("qid", pa.string()),
        ("row", pa.int64()),
        ("retrievers", pa.list_(pa.string())),
        ("score", pa.float64()),
        ("rank", pa.int32()),
    ]
)

# A candidate after the filter: `reason` is null where it is kept; stream is "retrieved" or "random"; `copies` are the
# near duplicates that were dropped for it.
_COPY = pa.struct([("pid", pa.string()), ("retrievers", pa.list_(pa.string()))])
CANDIDATES = pa.schema([*POOL, ("stream", pa.string()), ("reason", pa.string()), ("copies", pa.list_(_COPY))])

_PASSAGE = pa.struct(
    [
        ("pid", pa.string()),
        ("title", pa.string()),
        ("text", _TEXT),
        ("role", pa.string()),
        ("retrievers", pa.list_(pa.string())),
        ("rank", pa.int32()),
        ("score", pa.float64()),
    ]
)

# A row of a dataset. Rows of the same question share `question_id`; `depth` is the percentage of the context before
# the first gold passage, where a config sets it.
INSTANCES = pa.schema(
    [
        ("id", pa.string()),
        ("config", pa.string()),
        ("question_id", pa.string()),
        ("context_id", pa.string()),
        ("task", pa.string()),
        ("kind", pa.string()),
        ("query", pa.string()),
        ("answers", pa.list_(pa.string())),
        ("answer_kind", pa.string()),
        ("passages", pa.list_(_PASSAGE)),
        ("gold", pa.list_(pa.int32())),
        ("depth", pa.int32()),
        ("n_tokens", pa.int32()),
        ("confounding_ratio", pa.float64()),
        ("hops", pa.int32()),
        ("reasoning_types", pa.list_(pa.string())),
        ("flags", pa.list_(pa.string())),
    ],
    metadata={"format": "icr2-instance/2"},
)

# A row of a dataset of format 1, which can still be read.
INSTANCES_1 = pa.schema(
    [field for field in INSTANCES if field.name not in ("config", "question_id", "kind", "answer_kind", "depth")],
    metadata={"format": "icr2-instance/1"},
)

PLANS = pa.schema(
    [
        ("id", pa.string()),
        ("context_id", pa.string()),
        ("config", pa.string()),
        (
            "passages",
            pa.list_(
                pa.struct(
                    [
                        ("row", pa.int64()),
                        ("role", pa.string()),
                        ("retrievers", pa.list_(pa.string())),
                        ("rank", pa.int32()),
                        ("score", pa.float64()),
                    ]
                )
            ),
        ),
        ("n_tokens", pa.int32()),
        ("confounding_ratio", pa.float64()),
        ("flags", pa.list_(pa.string())),
    ]
)
