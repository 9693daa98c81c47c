"""The report's tables as text, for every format."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eval_harness.report.latency import latency
from eval_harness.report.matched import (
    Comparison,
    Setting,
    baseline_of,
    between_configs,
    between_methods,
    matched_rows,
    scores_by_setting,
    unmet,
)
from eval_harness.report.missing import missing_section
from eval_harness.report.parts import Section
from eval_harness.report.scoreboard import Fall, Standing, falls, standings
from eval_harness.report.statistics import MACRO, Change, holm
from eval_harness.report.study import Study
from eval_harness.report.table import figure, left_out, listed, percent
from eval_harness.scoring.evidence import METRICS as EVIDENCE

_MINUS = "\N{MINUS SIGN}"


class Report(NamedTuple):
    """A study with everything computed from it."""

    study: Study
    standings: list[Standing]
    matched: list[Standing] | None  # if n differs between the settings of a config
    configs: list[Comparison]
    methods: list[Comparison]
    falls: list[Fall]
    baseline: str


def compute(study: Study, baseline: str) -> Report:
    """The report of a study; methods are compared with `baseline`, or with the first if it was not run."""
    scores = scores_by_setting(study)
    baseline = baseline_of(study, baseline)
    found = standings(study.rows, study)
    counts = {(s.setting.config, task): set[int]() for s in found for task in s.cells}
    for standing in found:
        for task, cell in standing.cells.items():
            counts[standing.setting.config, task].add(cell.n)
    uneven = any(len(ns) > 1 for ns in counts.values())
    return Report(
        study,
        found,
        standings(matched_rows(study), study) if uneven else None,
        between_configs(study, scores),
        between_methods(study, scores, baseline),
        falls(study, scores),
        baseline,
    )


def sections(report: Report) -> list[Section]:
    """Every table that has rows, in reading order."""
    study = report.study
    found = [missing_section(study), _table3(report, report.standings)]
    if report.matched:
        found.append(_table3(report, report.matched, matched=True))
    found += [_measures(report, task) for task in study.tasks]
    found.append(_evidence(report))
    found.append(comparisons(report.configs, study, "configs", "Paired differences between configs", "method"))
    title = f"Paired differences between methods, each minus {report.baseline}"
    found.append(comparisons(report.methods, study, "methods", title, "config"))
    found.append(_lengths(report.falls, study))
    found += [latency(study), _runs(study), _differing(study)]
    return [section for section in found if section.rows]


def _table3(report: Report, found: Sequence[Standing], *, matched: bool = False) -> Section:
    tasks, headlines = report.study.tasks, report.study.headlines
    rows = []
    for configs, standing in _merged(report.study, found):
        cells = [_cell(standing, task) for task in tasks]
        rows.append([standing.setting.method, listed(configs), standing.setting.model, *cells, _macro(standing)])
    header = ["method", "config", "model", *(f"{task}\n{headlines[task]}" for task in tasks), MACRO]
    if not matched:
        notes = [
            "Percent, with the 95 % bootstrap interval over questions and n. Unparsed and failed answers count as "
            "wrong and are in n; overlength, unscorable and n/a instances are excluded and listed.",
            "The macro average weights all tasks equally.",
        ]
        if strict := report.study.strict_headlines:
            named = ", ".join(f"{name} of {task}" for task, name in sorted(strict.items()))
            notes.append(
                f"The strict score is the headline where the official one cannot work in this language: {named}."
            )
        bounds = [interval for standing in found for interval in standing.intervals.values() if interval]
        if any(interval.low == interval.high for interval in bounds):
            notes.append("Zero-width intervals mean all scores were equal (or n=1), not certainty.")
        return Section("table3", "Table 3: scores by method, config and model", notes, header, rows, 3, "Table 3")
    barred = len(unmet(report.study.all_rows))
    notes = [
        "The same instances under every method and model of a config: those that count in all of them. "
        f"{barred} {'instance' if barred == 1 else 'instances'} that could not meet some condition (no gold) "
        "are excluded everywhere."
    ]
    return Section("matched", "Table 3 over matched instances", notes, header, rows, 3, "Matched instances")


def _merged(study: Study, found: Iterable[Standing]) -> list[tuple[list[str], Standing]]:
    """Standings with their configs; configs in which a method has the same prompts are merged."""
    prompts: dict[Setting, set[tuple[str, str | None]]] = {}
    for label, rows in study.rows.items():
        for row in rows:
            prompts.setdefault(Setting(label, row.config, row.method), set()).add((row.id, row.prompt_sha256))
    groups: dict[object, tuple[list[str], Standing]] = {}
    for standing in found:
        label, config, method = standing.setting
        means = tuple((task, cell.n, cell.headline) for task, cell in standing.cells.items())
        key = (label, method, frozenset(prompts[standing.setting]), means)
        groups.setdefault(key, ([], standing))[0].append(config)
    return list(groups.values())


def _cell(standing: Standing, task: str) -> str:
    cell, interval = standing.cells.get(task), standing.intervals.get(task)
    if cell is None:
        return "–"
    lines = [percent(cell.headline)]
    if interval:
        lines.append(f"[{percent(interval.low)}, {percent(interval.high)}]")
    return "\n".join([*lines, f"n={cell.n}", *left_out(cell.statuses)])


def _macro(standing: Standing) -> str:
    interval = standing.intervals[MACRO]
    if interval is None:
        return "–"
    tasks = len(standing.cells)
    bounds = f"[{percent(interval.low)}, {percent(interval.high)}]"
    return f"{percent(interval.mean)}\n{bounds}\n{tasks} {'task' if tasks == 1 else 'tasks'}"


def _measures(report: Report, task: str) -> Section:
    mine = [(configs, s) for configs, s in _merged(report.study, report.standings) if task in s.cells]
    metrics = report.study.scorers[task].metrics
    rows = []
    for configs, standing in mine:
        cell = standing.cells[task]
        values = [figure(name, cell.means[name]) for name in metrics]
        rows.append([standing.setting.method, listed(configs), standing.setting.model, str(cell.n), *values])
    header = ["method", "config", "model", "n", *metrics]
    notes = ["Percent, except counts (n_...), all over the same n. The first is the headline."]
    return Section(f"measures-{task}", f"All measures: {task}", notes, header, rows, 3, folded=True)


def _evidence(report: Report) -> Section:
    rows = [
        [*_names(standing.setting), task, str(cell.evidence.n), *(percent(cell.evidence.means[m]) for m in EVIDENCE)]
        for standing in report.standings
        for task, cell in standing.cells.items()
        if cell.evidence
    ]
    notes = ["Percent; passages that the answer cites, or that a method or retriever chose, against the gold passages."]
    header = ["method", "config", "model", "task", "n", *EVIDENCE]
    return Section("evidence", "Evidence", notes, header, rows, 4, folded=True)


def _names(setting: Setting) -> tuple[str, str, str]:
    return setting.method, setting.config, setting.model


def comparisons(found: Sequence[Comparison], study: Study, name: str, title: str, held: str) -> Section:
    """Paired differences by task, with p-values adjusted for all of them."""
    adjusted = iter(holm([c.p for one in found for c in one.changes.values() if c]))
    tasks = [*study.tasks, MACRO]
    rows = []
    for one in found:
        texts = {task: _change(c, next(adjusted)) if c else "–" for task, c in one.changes.items()}
        what = f"{one.second} {_MINUS} {one.first}"
        rows.append([what, one.held, one.model, *(texts.get(task, "–") for task in tasks)])
    notes = [
        "Points, with the 95 % bootstrap interval, over matched instances: the same ids, counted on both sides; those "
        "without gold are excluded.",
        "p: two-sided sign-flip permutation test; in brackets, Holm-adjusted for all comparisons in this table.",
    ]
    return Section(name, title, notes, ["difference", held, "model", *tasks], rows, 3, f"Between {name}", folded=True)


def _change(found: Change, adjusted: float | None = None) -> str:
    bounds = f"[{points(found.low)}, {points(found.high)}]"
    holm_p = "" if adjusted is None else f" ({p_text(adjusted)})"
    return f"{points(found.mean)}\n{bounds}\np {p_text(found.p)}{holm_p}\nn={found.n}"


def points(change: float) -> str:
    """A difference in points with its sign."""
    text = f"{100 * change:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text.replace("-", _MINUS)


def number(value: float | None, digits: int = 3) -> str:
    """A number with a typographic minus sign; a dash for None."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if not float(text) else text.replace("-", _MINUS)


def p_text(p: float) -> str:
    """A p-value to three decimals."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _lengths(found: Sequence[Fall], study: Study) -> Section:
    tasks = [*study.tasks, MACRO]
    rows = [
        [
            f"{fall.method}\n{fall.line}",
            fall.model,
            *(_change(c) if (c := fall.slopes.get(task)) else "–" for task in tasks),
            fall.effective,
        ]
        for fall in found
    ]
    notes = [
        "Points per doubling of the length (least squares over log2 of the tokens), over instances counted at every "
        "length; p: test of zero slope, not adjusted. Effective length: the longest up to which the macro average "
        "keeps 85 % of its value at the shortest.",
    ]
    header = ["line", "model", *tasks, "effective length"]
    return Section("lengths", "Change with length", notes, header, rows, 2, "Change with length")


def _runs(study: Study) -> Section:
    rows = []
    for label, folders in study.runs.items():
        settings = study.settings[label]
        described = settings.get("model", {})
        kind = f"{described.get('dtype', '–')} on {described.get('device', '–')}"
        shown = [str(settings.get(key, "–")) for key in ("split", "prompt_version", "decoding")]
        rows.append([label, ", ".join(folders), str(described.get("revision", "–")), kind, *shown])
    header = ["model", "runs", "revision", "numbers", "split", "prompts", "decoding"]
    return Section("runs", "Runs", [f"Dataset manifest sha256: {study.manifest_sha256}"], header, rows, 7, "Runs")


def _differing(study: Study) -> Section:
    rows = [[label, name, str(value)] for label, values in study.differing.items() for name, value in values.items()]
    notes = ["These runs have the same model name but different settings, so they are reported separately."]
    return Section("differing", "Settings that differ", notes, ["model", "setting", "value"], rows, 3, folded=True)
