"""What datasets of format 1 leave to the names of their tasks: each task's kind, labels and scorer."""

from builders.tasks import TaskSpec

FACT_LABELS = {"SUPPORTS": "TRUE", "REFUTES": "FALSE"}

_TASKS = {
    "fever": TaskSpec("fever", "fact", FACT_LABELS),
    "wow": TaskSpec("wow", "dialogue"),
    "quest": TaskSpec("quest", "set"),
    "qampari": TaskSpec("qampari", "set"),
    "needle": TaskSpec("needle", "needle"),
    "needles": TaskSpec("needles", "needle", scorer="all_needles"),
}

NOT_EXTRACTIVE = tuple(name for name, task in _TASKS.items() if not task.says.extractive)


def spec_of(task: str) -> TaskSpec:
    """The task that a name stands for in format 1; every name but a few is that of a question."""
    return _TASKS.get(task) or TaskSpec(task, "qa")


def prompt_kind(task: str) -> str:
    """Which of three prompts a task of format 1 has: `qa`, `fact` or `dialogue`."""
    kind = spec_of(task).kind
    return kind if kind in ("fact", "dialogue") else "qa"
