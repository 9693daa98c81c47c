"""The data of the page's instance browser as plain values; each passage is stored once."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from eval_harness.report.instances import Instances
from eval_harness.report.listing import is_listed
from eval_harness.report.study import Study
from eval_harness.run.results import Row

# Fields of a result shown with its answer.
_SHOWN = (
    "status",
    "scores",
    "answer",
    "output",
    "error",
    "n_prompt_tokens",
    "n_new_tokens",
    "latency_s",
    "truncated",
    "evidence",
    "prompt_sha256",
    "steps_log",
)


class Room(NamedTuple):
    """Character limits of a page: for the texts of all passages, and for each output."""

    passages: int
    output: int


class Payload(NamedTuple):
    """The values for the page, and notes on what was left out."""

    content: dict[str, Any]
    left_out: list[str]


def payload(study: Study | None, instances: Instances, room: Room) -> Payload:
    """The browser's rows with their instances; without a study, one row per instance.

    If `room` is short, passages that are gold for a row keep their text; others, from the last on, only their title.
    """
    passages = _Passages()
    places = {key: place for place, key in enumerate(instances)}
    shown = [_instance(config, row, passages) for (config, _), row in instances.items()]
    texts, bare = passages.texts(room.passages)
    cut = 0
    rows: list[dict[str, Any]] = []
    headlines = study.headlines if study else {}
    n = sum(map(len, study.rows.values())) if study else 0
    for label, found in (study.rows if study else {}).items():
        for row in (one for one in found if is_listed(one.id, n)):
            rows.append(_row(label, row, headlines[row.task], places.get((row.config, row.id)), room.output))
            cut += len(row.output or "") > room.output
    content = {"passages": texts, "instances": shown, "rows": rows or [{"at": place} for place in places.values()]}
    notes = _left_out(study, instances, bare, len(texts), cut, room)
    if len(rows) < n:
        notes.append(
            f"Too large for a page: {len(rows):,} of {n:,} results are listed, the same share of the instances in "
            "every config and method. Tables and figures are over all; results.jsonl has the rest."
        )
    return Payload(content, notes)


class _Passages:
    """Unique passages in the order in which contexts show them, with the gold ones marked."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str, str], int] = {}
        self._gold: set[int] = set()

    def place(self, passage: Mapping[str, Any], *, gold: bool) -> int:
        """The passage's number."""
        key = (passage["pid"], passage["title"], passage["text"])
        place = self._places.setdefault(key, len(self._places))
        if gold:
            self._gold.add(place)
        return place

    def texts(self, room: int) -> tuple[list[list[str | None]], int]:
        """Pid, title and text of each passage, the text None beyond the limit; and how many have none."""
        order = sorted(self._places.items(), key=lambda item: (item[1] not in self._gold, item[1]))
        found: list[list[str | None]] = [[] for _ in order]
        bare = 0
        for (pid, title, text), place in order:
            room -= len(text)
            fits = room >= 0
            found[place] = [pid, title, text if fits else None]
            bare += not fits
        return found, bare


def _instance(config: str, row: Mapping[str, Any], passages: _Passages) -> dict[str, Any]:
    gold = set(row["gold"] or ())
    context = [
        [passages.place(passage, gold=place in gold), _role(passage["role"], place in gold), _found_by(passage)]
        for place, passage in enumerate(row["passages"] or ())
    ]
    named = ("id", "task", "split", "query", "answers", "n_tokens", "confounding_ratio", "flags")
    return {name: row[name] for name in named} | {"config": config, "context": context}


def _role(role: str, gold: bool) -> str:
    """The role in this row: in a shared context, gold of another row is not gold of this one."""
    return "gold" if gold else "gold of another query" if role == "gold" else role


def _found_by(passage: Mapping[str, Any]) -> str:
    retrievers = passage["retrievers"]
    return f"{', '.join(retrievers)} rank {passage['rank']}" if retrievers else ""


def _row(label: str, row: Row, head: str, place: int | None, output: int) -> dict[str, Any]:
    found = {name: value for name in _SHOWN if (value := getattr(row, name, None)) not in (None, {})}
    for name in ("output", "answer"):
        if len(found.get(name, "")) > output:
            found[name] = found[name][:output] + " …"
    names = {"id": row.id, "task": row.task, "config": row.config, "method": row.method, "model": label}
    return {"at": place, **names, **found, "score": row.scores.get(head), "metric": head, "condition": row.condition}


def _left_out(study: Study | None, instances: Instances, bare: int, n_passages: int, cut: int, room: Room) -> list[str]:
    found = []
    if study and not instances:
        found.append("Queries, answers and contexts are missing: the report was written without --dataset.")
    if bare:
        found.append(f"{bare:,} of {n_passages:,} passages are shown only by title, to keep the page small.")
    if cut:
        found.append(f"{cut:,} outputs are truncated to {room.output:,} characters; results.jsonl has them in full.")
    return found
