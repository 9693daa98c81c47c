"""The numbers of a finished run: accuracy of each method, by group and round, and the judges' verdicts."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from builders.typed import read_json, typed
from eval_harness.methods.direct import Direct
from eval_harness.protocols.frames.judge import FOLDER, SCORE, judgements
from eval_harness.protocols.frames.questions import Asked, Questions, read_questions
from eval_harness.protocols.frames.record import rounds_of, run_record, searched_of
from eval_harness.report.statistics import Change, Interval, changes, intervals
from eval_harness.report.study import Study, one_study, read_studies
from eval_harness.report.table import counted
from eval_harness.run.results import Row
from eval_harness.scoring.score import Wanted, score_output

MATCH = "subspan_em_strict"  # the output contains the answer, both normalised, on word boundaries
EXACT = "em_strict"
_AGAIN = "restore it, or remove its folder and judge again"
MANY = 5  # questions with at least so many gold articles are one group


class Verdicts(NamedTuple):
    """A judge's verdicts by id and method, with its record."""

    name: str
    record: dict[str, Any]
    rows: dict[tuple[str, str], Row]

    def correct(self, row: Row) -> float | None:
        """1 or 0 for a counted result, 0 without an answer; None without a verdict."""
        if row.status != "ok":
            return 0.0
        verdict = self.rows.get((row.id, row.method))
        return verdict.scores.get(SCORE) if verdict else None


class Analysis(NamedTuple):
    """A run: its results by method, its questions, its judges, and the number of rounds of multi-step methods."""

    study: Study
    rows: dict[str, list[Row]]
    questions: Questions
    judges: list[Verdicts]
    rounds: dict[str, int]
    searched: str | None = None  # the corpus of the search, in words

    @property
    def stepping(self) -> list[str]:
        """The multi-step methods."""
        return [method for method in self.rows if method in self.rounds]

    def counted(self, method: str) -> list[Row]:
        """A method's results in the denominator."""
        return counted(self.rows[method])

    def names(self, method: str) -> tuple[str, ...]:
        """The names that seed a method's estimates."""
        return ("frames", *self.study.rows, *self.study.configs, method)

    def accuracy(self, method: str) -> Interval | None:
        """The share of counted results whose answer matches."""
        return mean([matches(row) for row in self.counted(method)], *self.names(method))

    def right(self, method: str, judge: Verdicts | None = None) -> dict[str, float]:
        """1 or 0 for each counted result by question: whether its answer matches, or what a judge said of it."""
        verdicts = {row.id: judge.correct(row) if judge else matches(row) for row in self.counted(method)}
        return {id: verdict for id, verdict in verdicts.items() if verdict is not None}

    def by_group(
        self, method: str, groups_of: Callable[[Asked], Iterable[str]], judge: Verdicts | None = None
    ) -> dict[str, Interval | None]:
        """The accuracy of a method on each group of questions; a question may be in several groups."""
        values: dict[str, list[float]] = {}
        for id, verdict in self.right(method, judge).items():
            for group in groups_of(self.questions.asked[id]):
                values.setdefault(group, []).append(verdict)
        found = intervals(values, *self.names(method), *_seed(judge))
        return {group: found[group] for group in values}

    def judged(self, method: str, judge: Verdicts) -> Interval | None:
        """The share of counted results with a verdict that a judge calls correct."""
        verdicts = [judge.correct(row) for row in self.counted(method)]
        return mean([one for one in verdicts if one is not None], *self.names(method), judge.name)

    def gap(self, method: str, oracle: str, judge: Verdicts | None = None) -> Change | None:
        """The oracle's accuracy minus the method's, over questions counted in both."""
        mine = self.right(method, judge)
        differences = [verdict - mine[id] for id, verdict in self.right(oracle, judge).items() if id in mine]
        return changes({"": differences}, *self.names(method), oracle, *_seed(judge))[""]


def _seed(judge: Verdicts | None) -> tuple[str, ...]:
    return (judge.name,) if judge else ()


class Round(NamedTuple):
    """A method after a round: accuracy (None without an answer in the round), recall, and means over its results.

    `going` is how many searches ran the round; those that stopped before it count with their last result.
    """

    number: int
    going: int
    accuracy: Interval | None
    recall: Interval | None
    queries: float
    repeated: float
    articles: float


def rounds(analysis: Analysis, method: str) -> list[Round]:
    """The rounds of a multi-step method, over its counted results; a failed one has no articles and no answer."""
    rows = analysis.counted(method)
    if not rows:
        return []
    return [_round(analysis, method, rows, number) for number in range(1, analysis.rounds.get(method, 0) + 1)]


def _round(analysis: Analysis, method: str, rows: Sequence[Row], number: int) -> Round:
    logs = [[step for step in row.steps_log or [] if step["round"] <= number] for row in rows]
    names = (*analysis.names(method), f"round {number}")
    asked = all("answer" in log[-1] for log in logs if log)
    right = [_right(row, log, analysis.questions) for row, log in zip(rows, logs, strict=True)] if asked else []
    recalls = [log[-1]["recall"] if log else 0.0 for log in logs]

    def each(value: Callable[[dict[str, Any]], int]) -> float:
        return sum(value(step) for log in logs for step in log) / len(rows)

    return Round(
        number,
        sum(bool(log) and log[-1]["round"] == number for log in logs),
        mean(right, *names),
        mean([recall for recall in recalls if recall is not None], *names, "recall"),
        each(lambda step: len(step["queries"])),
        each(lambda step: step["n_repeated"]),
        each(lambda step: len(step["new"])),
    )


def _right(row: Row, log: Sequence[dict[str, Any]], questions: Questions) -> float:
    wanted = Wanted(row.spec, questions.asked[row.id].answers)
    return score_output(wanted, Direct(), log[-1]["answer"] if log else None).scores.get(MATCH, 0.0)


def read_analysis(run: Path) -> Analysis:
    """The numbers of a finished run folder."""
    record = run_record(run)
    study = one_study(read_studies([run]))
    rows: dict[str, list[Row]] = {method: [] for method in study.methods}
    for row in study.all_rows:
        rows[row.method].append(row)
    judges = [
        Verdicts(
            name,
            _judge(run / FOLDER / name / "run.json"),
            {(row.id, row.method): row for row in found},
        )
        for name, found in judgements(run).items()
    ]
    answered = {method: found for method, found in rows.items() if found}
    return Analysis(study, answered, read_questions(run), judges, rounds_of(record), searched_of(record))


def _judge(path: Path) -> dict[str, Any]:
    record: dict[str, Any] = typed(read_json(path, _AGAIN), dict[str, Any], path, _AGAIN)
    typed(record.get("prompt_sha256"), str, f"{path}: prompt_sha256", _AGAIN)
    return record


def matches(row: Row) -> float:
    """1 if a counted result's answer matches a reference answer, else 0."""
    return row.scores[MATCH]


def mean(values: Sequence[float], *names: str) -> Interval | None:
    """The mean of values with its interval; None without values."""
    return intervals({"": values}, *names)[""]


def articles_group(asked: Asked) -> list[str]:
    """The group of a question by its number of gold articles."""
    return [str(asked.articles) if asked.articles < MANY else f"{MANY}+"]
