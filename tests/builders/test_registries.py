"""The registries of retrievers and readers, and their descriptions in manifest and docs."""

import re
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from builders import format1
from builders.errors import SetupError
from builders.registry import Registry
from builders.retrieve import RETRIEVERS
from builders.retrieve.base import about
from builders.schema import Page
from builders.sources import GIVEN_READERS, PAGE_READERS, QUESTION_READERS, READERS
from builders.sources.base import Giving, Reader
from builders.tasks import KINDS, SCORER_NAMES
from eval_harness.methods.registry import METHODS
from eval_harness.models import BACK_ENDS
from eval_harness.scoring.registry import SCORERS
from validation.checks import CHECKS

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "building.md").read_text(encoding="utf-8")


def table(first: str) -> dict[str, list[str]]:
    """The rows of the docs' table whose first column is called `first`, by the names in that column."""
    _, rest = DOCS.split(f"\n| {first} |", 1)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in rest.split("\n\n")[0].splitlines()[2:]]
    return {name: row[1:] for row in rows for name in re.findall("`(.+?)`", row[0])}


def test_the_docs_list_every_retriever_with_what_its_k_counts() -> None:
    assert {name: row[-1] for name, row in table("retriever").items()} == {
        name: f"{kind.level}s" for name, kind in RETRIEVERS.items()
    }


def test_the_docs_list_every_reader_with_what_it_says_and_gives() -> None:
    assert {name: (row[0], [cell != "" for cell in row[1:]]) for name, row in table("reader").items()} == {
        name: (reader.says, [reader.pages is not None, reader.questions is not None, reader.given is not None])
        for name, reader in READERS.items()
    }


def test_format_1_knew_the_same_of_its_retrievers() -> None:
    assert {name: about(kind) for name, kind in RETRIEVERS.items()} == format1.RETRIEVERS


class Half:
    """A retriever that cannot search."""

    says, level, neural = "half", "passage", False
    index = identity = None


def no_method() -> None:
    """A function, where a class is wanted."""


@pytest.mark.parametrize(
    ("registry", "value", "says"),
    [
        (RETRIEVERS, "Half", "lacks search of builders.retrieve.base.Retriever"),
        (RETRIEVERS, "ROOT", "is of type PosixPath, not a class with the members of builders.retrieve.base.Retriever"),
        (READERS, "Half", "is of type type, not builders.sources.base.Reader"),
        (CHECKS, "no_method", "is of type function, not validation.checks.base.Check"),
        (METHODS, "Half", "is no subclass of eval_harness.methods.base.Method"),
        (SCORERS, "ROOT", "is of type PosixPath, not eval_harness.scoring.base.Scorer"),
        (BACK_ENDS, "Half", "lacks remote, load of eval_harness.models.back_end.BackEnd"),
    ],
)
def test_an_entry_point_gives_what_its_registry_wants(
    registry: Registry[Any], value: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = EntryPoint("foreign", f"tests.builders.test_registries:{value}", registry.group)
    monkeypatch.setitem(registry.__dict__, "_foreign", {"foreign": point})
    with pytest.raises(SetupError, match=re.escape(f"'foreign' ({point.value}) {says}")):
        registry["foreign"]


def test_readers_by_what_they_give() -> None:
    assert list(PAGE_READERS) == ["kilt", "hotpotqa", "twowiki", "musique", "intros", "loft"]
    assert list(QUESTION_READERS) == ["kilt", "hotpotqa", "twowiki", "musique", "frames", "loft"]
    assert list(GIVEN_READERS) == ["hotpotqa", "twowiki"]
    assert "intros" not in QUESTION_READERS and "frames" not in PAGE_READERS and "no_such" not in PAGE_READERS
    with pytest.raises(SetupError, match=r"reader 'intros' gives no questions; there are kilt, hotpotqa"):
        QUESTION_READERS["intros"]
    with pytest.raises(SetupError, match=r"no reader 'kil'; available: kilt, "):
        PAGE_READERS["kil"]


def test_a_reader_that_cannot_be_loaded_stops_only_who_names_it() -> None:
    def pages(path: Path, counts: Counter[str]) -> Iterator[Page]:
        return iter(())

    class Broken(Registry[Reader]):
        def __getitem__(self, name: str) -> Reader:
            if name == "broken":
                raise SetupError("the reader 'broken' cannot be loaded")
            return super().__getitem__(name)

    readers = Broken("none", "reader", {"good": Reader("good files", pages), "broken": Reader("")}, Reader)
    giving = Giving(readers, "pages", lambda reader: reader.pages)
    assert list(giving) == ["good"] and len(giving) == 1
    with pytest.raises(SetupError, match="cannot be loaded"):
        giving["broken"]


def test_a_recipe_knows_the_names_of_all_scorers() -> None:
    """Without loading one: the names in `builders` are those of the harness, in the same group of entry points."""
    assert [*SCORER_NAMES] == [*SCORERS]
    assert SCORER_NAMES.group == SCORERS.group
    assert {kind.scorer for kind in KINDS.values()} <= {*SCORER_NAMES}
