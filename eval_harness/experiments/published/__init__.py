"""The numbers that papers print, as data: a YAML for each paper with its tables."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, model_validator

from builders.config import Strict

Benchmark = Literal["icr2", "loft", "frames", "needles"]
Number = Annotated[float, Field(ge=0)]


class Row(Strict):
    """A row of a table: a condition by the name that our tables give it, a model, and values by benchmark and task."""

    row: str
    model: str | None = None
    icr2: dict[str, Number] = Field(default_factory=dict)
    loft: dict[str, Number] = Field(default_factory=dict)
    frames: dict[str, Number] = Field(default_factory=dict)
    needles: dict[str, Number] = Field(default_factory=dict)

    def of(self, benchmark: Benchmark) -> Mapping[str, float]:
        """Its values on a benchmark by task."""
        values: Mapping[str, float] = getattr(self, benchmark)
        return values


class Table(Strict):
    """A table; `n` instances of each task and `page`, where the text at hand says so."""

    n: int | None = None
    page: int | None = None
    rows: list[Row] = Field(min_length=1)


class Paper(Strict):
    """A paper's tables by name, the settings of its runs, and the names of its models where they can be had."""

    paper: str
    settings: dict[str, Any]
    models: dict[str, list[str]]
    tables: dict[str, Table]

    @model_validator(mode="after")
    def _known_models(self) -> "Paper":
        for name, table in self.tables.items():
            for row in table.rows:
                if row.model is not None and row.model not in self.models:
                    raise ValueError(f"tables.{name}: the model {row.model!r} of {row.row!r} is not among the models")
        return self

    def named(self, model: str) -> Iterator[str]:
        """The paper's names of a model."""
        return (name for name, places in self.models.items() if model in places)


@cache
def published(paper: str) -> Paper:
    """The numbers of a paper: `icr2`, `frames` or `needles`."""
    text = (Path(__file__).parent / f"{paper}.yaml").read_text(encoding="utf-8")
    return Paper.model_validate(yaml.safe_load(text))
