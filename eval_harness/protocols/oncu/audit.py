"""Writes a sheet of instances to label with failure modes by hand, and reads the labels."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from builders.errors import SetupError
from builders.files import replacing
from builders.seeds import order_key
from eval_harness.protocols.oncu.fields import gold_shown, metric_of, right
from eval_harness.protocols.oncu.matched import FULL, NONE, Matched
from eval_harness.protocols.oncu.modes import MODES, Mode, Modes
from eval_harness.report.instances import Instances
from eval_harness.run.results import Row

GIVEN: tuple[Mode, ...] = tuple(mode for mode in MODES if mode != "ungraded")
_KEY = ("model", "config", "id")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # prefixes that spreadsheets interpret as a formula

Key = tuple[str, str, str]  # model, config, context
ByHand = dict[Key, dict[str, Mode]]
"""Human labels of failure modes, by model, config and context, then by id."""


def write_sheet(found: Sequence[Matched], instances: Instances, n: int, path: Path) -> int:
    """Writes at most n instances, with a column to fill for each context; returns how many.

    They are drawn by a hash of their names, independently of their modes, which are not on the sheet.
    """
    drawn = [(one, id) for one in found for id, rows in one.rows.items() if right(rows[NONE]) is not None]
    drawn.sort(key=lambda item: order_key("audit", item[0].model, item[0].config, item[1]))
    lines = [_line(one, id, instances[one.config, id]) for one, id in drawn[:n]]
    if not lines:
        raise SetupError("no task of the runs has correct answers, so there is nothing to audit")
    columns = list(dict.fromkeys(name for line in lines for name in line))
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows({name: _plain(text) for name, text in line.items()} for line in lines)
    return len(lines)


def read_sheet(path: Path, found: Sequence[Matched]) -> ByHand:
    """The modes in a sheet, without empty cells; SetupError names an invalid line."""
    matched = {(one.model, one.config): one for one in found}
    by_hand: ByHand = {}
    for number, line in _lines(path):
        model, config, id = (_written(line[name]) for name in _KEY)
        one = matched.get((model, config))
        if one is None or id not in one.rows:
            raise SetupError(f"{path}, line {number}: {id} ({model}, {config}) is not a matched instance of these runs")
        for context in one.contexts:
            if label := (line.get(_column(context)) or "").strip().lower():
                if label not in GIVEN:
                    raise SetupError(f"{path}, line {number}: no mode {label!r}; available: {', '.join(GIVEN)}")
                by_hand.setdefault((model, config, context), {})[id] = label
    if not by_hand:
        raise SetupError(f"{path} has no modes; fill the columns that begin with 'mode under'")
    return by_hand


def pairs_of(by_hand: ByHand, found: Sequence[Matched], modes: Sequence[Modes]) -> dict[Key, list[tuple[Mode, Mode]]]:
    """The protocol's mode and the human label of each labelled instance."""
    ours = {(one.model, one.config): given for one, given in zip(found, modes, strict=True)}
    return {
        (model, config, context): [(ours[model, config][context][id], label) for id, label in labels.items()]
        for (model, config, context), labels in by_hand.items()
    }


def _line(matched: Matched, id: str, instance: dict[str, Any]) -> dict[str, str]:
    rows = matched.rows[id]
    gold = [instance["passages"][place] for place in instance["gold"]]
    line = dict(zip(_KEY, (matched.model, matched.config, id), strict=True)) | {
        "task": instance["task"],
        "query": instance["query"],
        "answers": " | ".join(instance["answers"]),
        "gold": "\n".join(f"{passage['title']}: {passage['text']}" for passage in gold),
    }
    for method in matched.methods:
        line[f"output of {method}"] = rows[method].output or rows[method].error or ""
        if method != NONE:
            line[f"gold in {method}"] = _seen(rows[method], len(gold))
    return line | {_column(context): "" for context in matched.contexts}


def _seen(row: Row, n_gold: int) -> str:
    """How much of the gold a condition showed, and how much the output cites."""
    shown, cited = gold_shown(row), metric_of(row, "evidence_recall")
    return f"{round(shown * n_gold)} of {n_gold} shown, {round(cited * n_gold)} cited"


def _lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if missing := [name for name in (*_KEY, _column(FULL)) if name not in (reader.fieldnames or ())]:
                raise SetupError(f"{path} lacks the columns {', '.join(missing)}; create a sheet with: --audit N")
            for line in reader:
                yield reader.line_num, line
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SetupError(f"{path} cannot be read ({error}); give a sheet of --audit, as CSV in UTF-8") from None


def _column(context: str) -> str:
    return f"mode under {context}"


def _plain(text: str) -> str:
    """Text escaped so that spreadsheets do not interpret it as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _written(text: str) -> str:
    """The inverse of `_plain`."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
