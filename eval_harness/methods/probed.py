"""Heads that a probe found, and which of them choose passages for a task."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from builders.errors import SetupError
from eval_harness.probing.heads import Head, Heads, Setting
from eval_harness.probing.probe import Variant


@dataclass(frozen=True)
class Probed:
    """Heads that a probe found, the layer up to which they may be used, and the preset that `rap` alone stands for."""

    heads: Heads
    preset: str | None = None
    max_layer: int | None = None


@dataclass(frozen=True)
class Choice:
    """The heads that choose, and how: `settings` by task, with "" for every other task."""

    heads: Heads
    settings: Mapping[str, Setting]
    max_layer: int | None = None

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
            task: {**setting._asdict(), "heads": [list(head) for head in self.chosen(setting)]}
            for task, setting in sorted(self.settings.items())
        }
        return {"tasks": tasks, "n": self.heads.n, "made_from": self.heads.made_from}

    def chosen(self, setting: Setting) -> list[Head]:
        """The heads of a setting."""
        return self.heads.best(setting.q, setting.m, self.max_layer)

    def check(self) -> None:
        """Raises SetupError where a setting asks for more than was probed."""
        for setting in self.settings.values():
            self.chosen(setting)
