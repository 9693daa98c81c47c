"""What a reader of sources is, and readers by what they give."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from builders.config import GoldMode
from builders.errors import SetupError
from builders.schema import Page, Question

T = TypeVar("T")

ReadPages = Callable[[Path, Counter[str]], Iterator[Page]]
ReadQuestions = Callable[[Path, str, Counter[str]], Iterator[Question]]
ReadGiven = Callable[[Path, str, Counter[str]], Iterator[tuple[Question, list[Page]]]]


class Reader(NamedTuple):
    """A reader is one of these in one file with one line in `builders.sources.READERS`, or an entry point.

    `says` is what it reads. `pages(path, counts)` gives the pages of a knowledge source, `questions(path, task,
    counts)` those of a task, `given(path, task, counts)` questions with the paragraphs that come with each; what the
    files do not contain is None. Each counts its records under `read`, and what it cannot use by its reason.
    `gold` is which passages are gold where a recipe does not say it: `all` for questions of several hops.
    """

    says: str
    pages: ReadPages | None = None
    questions: ReadQuestions | None = None
    given: ReadGiven | None = None
    gold: GoldMode = "best"


class Giving(Mapping[str, T], Generic[T]):
    """The functions of those readers that give one thing, by the reader's name."""

    def __init__(self, readers: Mapping[str, Reader], what: str, of: Callable[[Reader], T | None]) -> None:
        self._readers, self._what, self._of = readers, what, of

    def __getitem__(self, name: str) -> T:
        found = self._of(self._readers[name])
        if found is None:
            raise SetupError(f"reader {name!r} gives no {self._what}; there are {', '.join(self)}")
        return found

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._readers and self._of(self._readers[name]) is not None

    def __iter__(self) -> Iterator[str]:
        for name in self._readers:
            with suppress(SetupError):  # one from outside that cannot be loaded stops only who names it
                if self._of(self._readers[name]) is not None:
                    yield name

    def __len__(self) -> int:
        return len(list(iter(self)))
