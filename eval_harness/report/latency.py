"""Latency of answers, in total and by step (paper, table 7)."""

from collections.abc import Sequence

from eval_harness.report.matched import Setting
from eval_harness.report.parts import Section
from eval_harness.report.study import Study
from eval_harness.run.results import Row

_NOTES = [
    "Mean seconds per answer; in a batch, its time divided by its size. Tokens read are the tokens of the answered "
    "prompt, without those reused from an earlier answer or a probe. If methods share a context, the first of them "
    "reads it for all, so run a method alone to time it.",
]


def latency(study: Study) -> Section:
    """Seconds, steps and tokens by method, config and model."""
    found: dict[Setting, list[Row]] = {}
    for label, rows in study.rows.items():
        for row in rows:
            if row.latency_s is not None:
                found.setdefault(Setting(label, row.config, row.method), []).append(row)
    steps = list(dict.fromkeys(step for rows in found.values() for row in rows for step in row.steps_s or ()))
    lines = [
        [
            *(one.method, one.config, one.model, str(len(rows))),
            f"{_mean([row.latency_s or 0 for row in rows]):.2f}",
            *(_step(rows, step) for step in steps),
            f"{_mean([(row.n_prompt_tokens or 0) - (row.n_cached_tokens or 0) for row in rows]):,.0f}",
            f"{_mean([row.n_new_tokens or 0 for row in rows]):,.0f}",
        ]
        for one, rows in found.items()
    ]
    header = ["method", "config", "model", "n", "seconds", *steps, "tokens read", "tokens written"]
    return Section("latency", "Table 7: seconds per answer", _NOTES, header, lines, 3, "Latency", folded=True)


def _step(rows: Sequence[Row], step: str) -> str:
    seconds = [row.steps_s[step] for row in rows if row.steps_s and step in row.steps_s]
    return f"{_mean(seconds):.2f}" if seconds else "–"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
