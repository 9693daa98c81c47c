"""What a build would find, as far as a dry run can count it."""

from collections import Counter
from collections.abc import Iterator, Mapping

from builders.config import AnyRecipe, QuestionSource, Task
from builders.sources import QUESTION_READERS
from builders.work import Input


def shortages(recipe: AnyRecipe, inputs: Mapping[str, Input]) -> Iterator[str]:
    """A line for each file with fewer questions than its splits ask for; local files are counted by their readers."""
    tasks: Mapping[str, object] = getattr(recipe, "tasks", {})
    for name, task in tasks.items():
        if not isinstance(task, Task):
            continue
        for file, source in task.files.items():
            wanted = sum(min(take.n, recipe.limit or take.n) for take in task.take.values() if take.source == file)
            there = _questions(
                name, source, inputs.get(f"tasks.{name}.files.{file}", inputs.get(f"tasks.{name}.{file}"))
            )
            if there is not None and there < wanted:
                yield f"tasks.{name}: its splits ask for {wanted:,} questions of {file}, which has only {there:,}"


def _questions(task: str, source: QuestionSource, given: Input | None) -> int | None:
    """How many questions a file has: those that its reader gives or, where it is not there, its `rows`."""
    if given is None or source.reader not in QUESTION_READERS:
        return source.rows
    return sum(1 for _ in QUESTION_READERS[source.reader](given.path, task, Counter()))
