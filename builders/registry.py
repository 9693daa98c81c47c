"""Things by name: those of this package, and those that installed packages bring by an entry point."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from builders.errors import SetupError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Named things of one kind, ours first, then those of the entry-point group `group`.

    A thing from outside is loaded when it is asked for, so that one that is broken stops only who names it.
    SetupError where a name is unknown, where an entry point cannot be loaded, and where one takes a name of ours.
    """

    def __init__(self, group: str, what: str, own: Mapping[str, T]) -> None:
        self.group = group
        self._what = what  # "retriever", for messages
        self._own = dict(own)
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own[name]
        if name not in self._foreign:
            raise SetupError(f"no {self._what} {name!r}; available: {', '.join(self)}")
        if name not in self._loaded:
            self._loaded[name] = self._load(self._foreign[name])
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._foreign

    def __iter__(self) -> Iterator[str]:
        return iter([*self._own, *self._foreign])

    def __len__(self) -> int:
        return len(self._own) + len(self._foreign)

    @cached_property
    def _foreign(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self.group), key=lambda point: (point.name, point.value)):
            if point.name in self._own or point.name in found:
                raise SetupError(
                    f"{point.value} registers the {self._what} {point.name!r}, and that name is taken; rename one"
                )
            found[point.name] = point
        return found

    def _load(self, point: EntryPoint) -> T:
        try:
            loaded: T = point.load()
        except Exception as error:  # whatever a foreign module raises while it is imported
            raise SetupError(f"the {self._what} {point.name!r} ({point.value}) cannot be loaded: {error}") from error
        return loaded
