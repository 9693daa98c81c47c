"""Heads that a probe found, and which of them choose passages for a task."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from builders.errors import SetupError
from eval_harness.probing.heads import Head, Heads, Setting
from eval_harness.probing.probe import Variant


@dataclass(frozen=True)
class Probed:
    """Heads that a probe found, the layer up to which they may be used, and the preset that `rap` alone stands for.

    With `pooled`, those of all tasks together choose for each.
    """

    heads: Heads
    preset: str | None = None
    max_layer: int | None = None
    pooled: bool = False

    def check(self, tasks: Iterable[str]) -> None:
        """SetupError where a task has no heads of its own, unless those of all tasks choose."""
        if not self.pooled:
            for task in tasks:
                self.heads.of(task)


@dataclass(frozen=True)
class Choice:
    """The heads that choose, each task's for itself, and how: `settings` by task, with "" for every other task."""

    heads: Heads
    settings: Mapping[str, Setting]
    max_layer: int | None = None
    pooled: bool = False

    def setting(self, task: str) -> Setting:
        """How many heads and passages a task gets; SetupError where it has no setting."""
        found = self.settings.get(task, self.settings.get(""))
        if found is None:
            raise SetupError(f"the preset says no Q and M for the task {task}; write rap@QxM, such as rap@4x1")
        return found

    @property
    def variant(self) -> Variant:
        """The scores that the heads were probed with."""
        made = self.heads.made_from
        return Variant(made["position"], made["pooling"], made["calibrated"], made.get("tokens", "mean"))

    def describe(self) -> dict[str, Any]:
        """What answers depend on, for the record of a run."""
        tasks = {
            task: {**self.setting(task)._asdict(), "heads": [list(head) for head in self.chosen(task)]}
            for task in self._tasks()
        }
        return {"tasks": tasks, "pooled": self.pooled, "n": self.heads.n, "made_from": self.heads.made_from}

    def chosen(self, task: str) -> list[Head]:
        """The heads of a task."""
        setting = self.setting(task)
        heads = self.heads if self.pooled else self.heads.of(task)
        return heads.best(setting.q, setting.m, self.max_layer)

    def check(self) -> None:
        """Raises SetupError where a setting asks for more than was probed."""
        for task in self._tasks():
            self.chosen(task)

    def _tasks(self) -> list[str]:
        """The tasks, by "" all others, that have a setting and heads."""
        if self.pooled:
            return sorted(self.settings)
        return sorted(task for task in self.heads.tasks if {task, ""} & self.settings.keys())
