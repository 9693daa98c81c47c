"""A synthetic dataset: rows that a kind generates or assembles in its own stages."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import Field, model_validator

from builders.config import AnyRecipe, ConfigSpec, Length, Name
from builders.schema import Passage, Question, Split
from builders.tasks import KindName

_ASKED = ("id", "task", "query", "answers", "answer_kind", "hops", "reasoning_types")


def at_depth(question: str, depth: int) -> str:
    """The id of the instance of a question with gold at a depth, in percent."""
    return f"{question}-d{depth:03d}"


class SyntheticRecipe(AnyRecipe):
    """The recipe fields of every kind; a kind adds its own."""

    kind: Name
    lengths: list[Length] = Field(min_length=1)

    @model_validator(mode="after")
    def _reserve(self) -> "SyntheticRecipe":
        for length in self.lengths:
            if self.budget(length) < 1:
                raise ValueError(f"length {length} leaves no tokens after the reserve; reduce reserve")
        return self

    def config(self, length: str) -> str:
        """The name of the config of a length."""
        return f"{self.kind}_{length}"

    @property
    def configs(self) -> dict[str, ConfigSpec]:
        """One config for each length."""
        return {self.config(length): self.config_of(self.kind, length) for length in self.lengths}


class SyntheticRow(NamedTuple):
    """A row of a synthetic dataset, with the fields of `builders.schema.INSTANCES` except the config."""

    config: str
    split: Split
    row: dict[str, Any]


def row_of(
    question: Question,
    kind: KindName,
    items: Sequence[Passage],
    n_tokens: int,
    ratio: float = 0.0,
    flags: Sequence[str] = (),
    asks: str | None = None,
    depth: int | None = None,
) -> dict[str, Any]:
    """A row: a question over the passages of its finished context, which is its own.

    `asks` is the question id that rows of the same question share, where each row has its own id.
    """
    return {
        **{name: getattr(question, name) for name in _ASKED},
        "question_id": asks or question.id,
        "context_id": question.id,
        "kind": kind,
        "depth": depth,
        "passages": [item.in_row() for item in items],
        "gold": [at for at, item in enumerate(items) if item.role == "gold"],
        "n_tokens": n_tokens,
        "confounding_ratio": ratio,
        "flags": list(flags),
    }
