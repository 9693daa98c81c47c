"""Which questions of a task can be scored, and by which of their answers."""

from collections import Counter
from collections.abc import Sequence

from builders.errors import SetupError
from builders.schema import Question
from builders.tasks import TaskSpec


def answerable(questions: Sequence[Question], task: TaskSpec, counts: Counter[str]) -> list[Question]:
    """The questions that a build can use, answers of claims in the spelling of the task's labels.

    An answer of a claim that is none of the labels is dropped and counted as `not_a_label`; a claim without any other
    is left out and counted as `no_label`. SetupError where no question of the task can be scored.
    """
    kept = [_labelled(question, task, counts) for question in questions] if task.labels else questions
    found = [question for question in kept if question.answers]
    counts["no_label"] += len(questions) - len(found)
    if questions and not any(task.usable(question.answers) for question in found):
        answer = questions[0].answers[0]
        wanted = f"one of its labels {', '.join(task.labels)}" if task.labels else "text"
        raise SetupError(f"tasks.{task.name}: no answer can be scored; the first is {answer[:100]!r}, wanted {wanted}")
    return found


def _labelled(question: Question, task: TaskSpec, counts: Counter[str]) -> Question:
    labels = list(dict.fromkeys(task.usable(question.answers)))
    counts["not_a_label"] += len(question.answers) - len(task.usable(question.answers))
    return question._replace(answers=labels, answer_kind="label")
