"""Registries: objects by name, from this package and from entry points of installed packages."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from builders.errors import SetupError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Named objects of one kind, ours first, then those of the entry-point group `group`.

    An entry point is loaded when it is asked for, so that a broken one only stops whoever names it. What it gives must
    be a `wanted`: an instance of that class or, where we register classes, a subclass or one with all members of the
    protocol. SetupError for an unknown name, for an entry point that cannot be loaded or gives something else, and for
    one that takes a name of ours.
    """

    def __init__(self, group: str, what: str, own: Mapping[str, T], wanted: type) -> None:
        self.group = group
        self._wanted = wanted
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
                    f"{point.value} registers the {self._what} {point.name!r}, but that name is taken; rename one"
                )
            found[point.name] = point
        return found

    def _load(self, point: EntryPoint) -> T:
        try:
            loaded: T = point.load()
        except Exception as error:  # an external module may raise anything on import
            raise SetupError(f"the {self._what} {point.name!r} ({point.value}) cannot be loaded: {error}") from error
        if wrong := _misfit(loaded, self._wanted, classes=any(isinstance(one, type) for one in self._own.values())):
            raise SetupError(f"the {self._what} {point.name!r} ({point.value}) {wrong}")
        return loaded


def _misfit(loaded: object, wanted: type, classes: bool) -> str | None:
    """What keeps a loaded object from being used; None where nothing does."""
    named = f"{wanted.__module__}.{wanted.__qualname__}"
    if not classes:
        return None if isinstance(loaded, wanted) else f"is of type {type(loaded).__name__}, not {named}"
    if not isinstance(loaded, type):
        return f"is of type {type(loaded).__name__}, not a class with the members of {named}"
    if not getattr(wanted, "_is_protocol", False):
        return None if issubclass(loaded, wanted) else f"is no subclass of {named}"
    members = (name for name in (*wanted.__annotations__, *vars(wanted)) if not name.startswith("_"))
    missing = [name for name in members if not hasattr(loaded, name)]
    return f"lacks {', '.join(missing)} of {named}" if missing else None
