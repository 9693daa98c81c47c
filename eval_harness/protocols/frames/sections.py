"""The tables of the FRAMES report."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from eval_harness.protocols.agreement import agreement
from eval_harness.protocols.frames.analysis import (
    EXACT,
    MATCH,
    Analysis,
    Verdicts,
    articles_group,
    matches,
    mean,
    rounds,
)
from eval_harness.protocols.frames.labels import CORRECT, INCORRECT, Key
from eval_harness.protocols.frames.plan import CLOSED_BOOK, ORACLE
from eval_harness.protocols.frames.questions import Asked
from eval_harness.report.parts import Section
from eval_harness.report.sections import p_text, points
from eval_harness.report.statistics import Interval
from eval_harness.report.table import left_out, percent
from eval_harness.run.results import Row

NONE = "–"


def sections(found: Analysis) -> list[Section]:
    """Every non-empty table, the main one first."""
    every = [
        accuracy(found),
        *(_types(found, judge) for judge in (None, *found.judges)),
        _grouped(found, "articles", "By number of gold articles", articles_group, _ARTICLES),
        _rounds(found),
        *(_gap(found, judge) for judge in (None, *found.judges)),
        _shown(found),
        _judges(found),
        _coverage(found),
    ]
    return [section for section in every if section.rows]


def _types(found: Analysis, judge: Verdicts | None) -> Section:
    return _grouped(found, "types", "By reasoning type", lambda asked: asked.reasoning_types, _TYPES, judge)


_TYPES = "Accuracy in percent; a question with several types counts in each of them."
_ARTICLES = "Accuracy in percent, by the number of gold articles of a question."


def accuracy(found: Analysis) -> Section:
    """Accuracy and recall of each method."""
    rows = []
    for method, mine in found.rows.items():
        counted = found.counted(method)
        exact = mean([row.scores[EXACT] for row in counted], *found.names(method), EXACT)
        recall = [row.scores["evidence_recall"] for row in counted if "evidence_recall" in row.scores]
        judged = [_bounded(found.judged(method, judge)) for judge in found.judges]
        shares = (exact.mean if exact else None, sum(recall) / len(recall) if recall else None)
        numbers = [str(len(counted)), _bounded(found.accuracy(method)), *judged, *map(percent, shares)]
        statuses = left_out(Counter(row.status for row in mine))
        rows.append([method, *numbers, "\n".join(statuses) or NONE])
    notes = [
        f"Percent. Accuracy: the answer contains a reference answer, both normalised, on word boundaries ({MATCH}); "
        f"exact: the answer is the reference answer ({EXACT}). Recall: the share of gold articles found.",
        "Unparsed and failed answers count as wrong and are in n; overlength, unscorable and n/a ones are excluded.",
    ]
    if found.searched:
        notes.append(f"Searched: {found.searched}.")
    judges = [f"judge\n{judge.name}" for judge in found.judges]
    header = ["method", "n", "accuracy", *judges, "exact", "recall", "not ok"]
    return Section("frames", "FRAMES: accuracy by method", notes, header, rows, 1, short="accuracy")


def _grouped(
    found: Analysis,
    name: str,
    title: str,
    groups_of: Callable[[Asked], Iterable[str]],
    note: str,
    judge: Verdicts | None = None,
) -> Section:
    by_method = {method: found.by_group(method, groups_of, judge) for method in found.rows}
    groups = sorted({group for values in by_method.values() for group in values})
    rows = [
        [method, *(_bounded(values.get(group), with_n=True) for group in groups)]
        for method, values in by_method.items()
        if values
    ]
    return _by(judge, Section(name, title, [note], ["method", *groups], rows, 1, short=name))


def _by(judge: Verdicts | None, section: Section) -> Section:
    """A section by the match, or by a judge, which it names."""
    if judge is None:
        return section
    notes = [*section.notes, f"By the verdicts of the judge {judge.name}; answers without one are not in n."]
    title = f"{section.title}, judged by {judge.name}"
    return section._replace(name=f"{section.name}-{judge.name}", title=title, notes=notes, short="")


def _rounds(found: Analysis) -> Section:
    rows = [
        [
            f"{method}",
            str(one.number),
            str(one.going),
            _bounded(one.accuracy),
            _bounded(one.recall),
            *(f"{value:.1f}" for value in (one.articles, one.queries, one.repeated)),
        ]
        for method in found.stepping
        for one in rounds(found, method)
    ]
    notes = [
        "Scores of a multi-step method after each round. Active: searches that ran the round; a search whose next "
        "prompt would equal the previous one has stopped, and counts with its last result.",
        "Articles, queries and repeated queries are cumulative means over questions.",
    ]
    header = ["method", "round", "active", "accuracy", "recall", "articles", "queries", "repeated"]
    return Section("rounds", "Round by round", notes, header, rows, 2, short="rounds")


def _gap(found: Analysis, judge: Verdicts | None) -> Section:
    rows = []
    for method in found.rows if ORACLE in found.rows else ():
        change = found.gap(method, ORACLE, judge) if method != ORACLE else None
        if change:
            bounds = f"[{points(change.low)}, {points(change.high)}]"
            rows.append([method, str(change.n), f"{points(change.mean)}\n{bounds}", p_text(change.p)])
    notes = [
        "Accuracy of the oracle minus that of a method, in points, over questions counted in both, with the "
        "95 % bootstrap interval; p: two-sided sign-flip permutation test, not adjusted. Errors of the oracle itself "
        "are not caused by the search.",
    ]
    header = ["method", "n", "oracle minus method", "p"]
    return _by(judge, Section("gap", "Oracle gap", notes, header, rows, 1, short="gap"))


def _shown(found: Analysis) -> Section:
    rows = []
    for method in found.rows:
        last = [_last_shown(row) for row in found.counted(method) if row.steps_log]
        articles = sum(one["n_articles"] for one in last)
        if method == CLOSED_BOOK or not last:
            continue
        each = [one["passages_each"] for one in last if one["passages_each"]]
        numbers = [articles / len(last), sum(one["n_cut"] for one in last), sum(one["n_left_out"] for one in last)]
        least = str(min(each)) if each else NONE
        rows.append([method, str(len(last)), f"{numbers[0]:.1f}", *map(str, numbers[1:]), least])
    notes = [
        "Articles in the last prompt of each answer. Articles that do not fit whole are cut to their first N passages, "
        "with the largest N that fits. If not even one passage of each fits, a multi-step method leaves out the "
        "articles found last, and any other method is overlength.",
    ]
    header = ["method", "n", "articles shown", "cut", "left out", "smallest N"]
    return Section("shown", "What fitted", notes, header, rows, 1)


def _last_shown(row: Row) -> dict[str, Any]:
    """The log of a result's last prompt; a single step logs only that."""
    last = (row.steps_log or [{}])[-1]
    shown: dict[str, Any] = last.get("answer_shown", last)
    return shown


def _judges(found: Analysis) -> Section:
    rows = []
    for judge in found.judges:
        verdicts = Counter(row.answer or row.status for row in judge.rows.values())
        other = sum(n for name, n in verdicts.items() if name not in (CORRECT, INCORRECT))
        same = agreement(_pairs(found, judge))
        kappa = NONE if same is None or same.kappa is None else f"{same.kappa:.2f}"
        alike = percent(same.share) if same else NONE
        digest = str(judge.record["prompt_sha256"])[:12]
        counts = [str(n) for n in (verdicts[CORRECT], verdicts[INCORRECT], other)]
        rows.append([judge.name, digest, *counts, alike, kappa])
    notes = [
        "Verdicts of a model on the parsed answers; an output other than the two words counts as no verdict. "
        "Agreement and Cohen's kappa compare them with the match, not with human labels; for those, run icr2 frames "
        "agree.",
    ]
    header = ["judge", "prompt", CORRECT, INCORRECT, "no verdict", "agreement", "kappa"]
    return Section("judges", "Judges", notes, header, rows, 2)


def agreements(found: Analysis, labels: Mapping[Key, str]) -> Section:
    """Agreement of the match and every judge with human labels."""
    rows = []
    for name, verdicts in _verdicts(found).items():
        pairs = [(verdicts[key], label) for key, label in labels.items() if key in verdicts]
        same = agreement(pairs)
        kappa = NONE if same is None or same.kappa is None else f"{same.kappa:.3f}"
        rows.append([name, str(len(pairs)), str(len(labels) - len(pairs)), percent(same and same.share), kappa])
    header = ["verdicts", "n", "labels without a verdict", "accuracy, %", "kappa"]
    return Section("agreement", "Verdicts and human labels", [], header, rows, 1)


def _verdicts(found: Analysis) -> dict[str, dict[Key, str]]:
    """The verdict of the match and every judge on each counted result, `correct` or `incorrect`."""
    rows = [row for method in found.rows for row in found.counted(method)]
    said: dict[str, dict[Key, str]] = {"match": {(row.id, row.method): _word(matches(row)) for row in rows}}
    for judge in found.judges:
        verdicts = {(row.id, row.method): judge.correct(row) for row in rows}
        said[judge.name] = {key: _word(verdict) for key, verdict in verdicts.items() if verdict is not None}
    return said


def _word(verdict: float) -> str:
    return CORRECT if verdict else INCORRECT


def _pairs(found: Analysis, judge: Verdicts) -> list[tuple[str, str]]:
    """The verdicts of a judge and of the match on the parsed answers."""
    read = {(row.id, row.method) for method in found.rows for row in found.counted(method) if row.status == "ok"}
    said = _verdicts(found)
    return [(verdict, said["match"][key]) for key, verdict in said[judge.name].items() if key in read]


def _coverage(found: Analysis) -> Section:
    shares = {tuple(map(int, name.split("/"))): n for name, n in found.questions.coverage.items()}
    needed = sorted({of for _, of in shares})
    rows = []
    for of in needed:
        mine = {k: n for (k, n_of), n in shares.items() if n_of == of}
        articles = sum(k * n for k, n in mine.items())
        asked = sum(mine.values())
        spread = ", ".join(f"{k}/{of}: {mine[k]}" for k in sorted(mine))
        rows.append([str(of), spread, *map(str, (asked, mine.get(of, 0))), percent(articles / (of * asked))])
    total = sum(shares.values())
    whole = sum(n for (k, of), n in shares.items() if k == of)
    notes = [
        f"{whole} of the source's {total} questions have all their articles in the knowledge source; the others are "
        "not in the dataset or in any score. Titles are looked up as linked, so a redirect counts as missing.",
    ]
    header = ["gold articles", "available: questions", "questions", "with all articles", "articles available, %"]
    return Section("coverage", "Coverage of the knowledge source", notes, header, rows, 2, folded=True)


def _bounded(found: Interval | None, with_n: bool = False) -> str:
    if found is None:
        return NONE
    lines = [percent(found.mean), f"[{percent(found.low)}, {percent(found.high)}]"]
    return "\n".join([*lines, f"n={found.n}"] if with_n else lines)
