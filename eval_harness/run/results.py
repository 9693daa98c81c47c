"""A run folder: `run.json`, what its results depend on, and `results.jsonl`, one result per line as it finishes."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_type_hints

from pydantic import ConfigDict, create_model

from builders.errors import SetupError, shown
from builders.files import write_json
from builders.tasks import KindName, TaskSpec
from builders.typed import parsed_json, read_json, typed
from eval_harness.run.earlier import upgraded_row

Status = Literal["ok", "unparsed", "overlength", "unscorable", "n/a", "error"]
_NAMES = ("task", "kind", "scorer", "config", "split", "condition", "method", "model", "status", "headline")


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one instance under one config and method.

    Status: `unparsed`, no answer could be parsed; `overlength`, prompt and output do not fit the model; `unscorable`,
    no reference answer; `n/a`, the instance cannot meet the condition; `error`, the model failed.
    `scores` is empty except for `ok` and what counts as wrong (`unparsed`, `error`). `evidence`: pids that were
    cited, or chosen by a retriever or a method; None if there were none. `n_cached_tokens` of the prompt were reused
    from an earlier result. `latency_s` is the batch's time divided by its size, in seconds; an answer copied from an
    equal prompt keeps its latency. `steps_s` is the time of each step of a multi-step method, `steps_log` its log
    if it keeps one. `kind` and `scorer` are those of the task; results with the same `question_id` ask the same
    question; `depth` is the position of the gold in percent, if the config sets it.
    `headline` is the metric that stands for the task in the dataset's language, the scorer's first if empty.
    """

    id: str
    task: str
    kind: KindName
    scorer: str
    config: str
    split: str
    condition: str
    method: str
    model: str
    status: Status
    scores: dict[str, float]
    prompt_sha256: str | None = None
    n_prompt_tokens: int | None = None
    n_new_tokens: int | None = None
    output: str | None = None
    answer: str | None = None
    n_answers: int | None = None
    truncated: bool | None = None
    evidence: list[str] | None = None
    n_cached_tokens: int | None = None
    latency_s: float | None = None
    steps_s: dict[str, float] | None = None
    error: str | None = None
    steps_log: list[dict[str, Any]] | None = None
    question_id: str = ""
    depth: int | None = None
    headline: str = ""

    @property
    def spec(self) -> TaskSpec:
        """Its task, without the labels, which are in the record."""
        return TaskSpec(self.task, self.kind, scorer=self.scorer)

    @property
    def key(self) -> tuple[str, str, str]:
        """The key, unique within a run."""
        return (self.id, self.config, self.method)


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Locks a run folder for one command at a time, until the process ends; SetupError if another runs in it.

    A folder that did not exist is removed again if the command is refused before its first result.
    """
    from filelock import FileLock, Timeout

    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        lock.acquire(timeout=0)
    except Timeout:
        raise SetupError(f"another command is running in {folder}; wait for it, or choose another --out") from None
    except OSError as error:
        raise SetupError(f"cannot write to {folder}: {error.strerror}; choose another --out") from None
    try:
        yield
    except SetupError:
        results = folder / "results.jsonl"
        if missing and not (results.is_file() and results.stat().st_size):
            lock.release()
            for name in ("run.json", "results.jsonl", ".lock"):
                (folder / name).unlink(missing_ok=True)
            with suppress(OSError):  # something else lies there
                for one in missing:
                    one.rmdir()
        raise
    finally:
        lock.release()


_FOUND: dict[str, Any] = {
    field.name: (get_type_hints(Row)[field.name], ... if field.default is MISSING else field.default)
    for field in fields(Row)
}
_FIELDS: Any = create_model(  # the fields of a line of results.jsonl, each of its type
    "_FIELDS", __config__=ConfigDict(extra="forbid", strict=True, allow_inf_nan=False), **_FOUND
)


class Results:
    """The results in a run folder: those of an earlier, interrupted run, and new ones."""

    def __init__(self, folder: Path, record: dict[str, Any]) -> None:
        """Opens or creates `folder`; SetupError naming the differing keys if it contains a run with another record."""
        self.folder = folder
        self._path = folder / "results.jsonl"
        open_record(folder, record)
        kept = read_rows(folder) if self._path.exists() else []
        self.rows = [*{row.key: row for row in kept if row.status != "error"}.values()]  # errors are retried
        _write_whole(self._path, "".join(map(_line, self.rows)))
        self.done = {row.key for row in self.rows}

    def append(self, rows: Sequence[Row]) -> None:
        """Adds finished results; they are on disk when this returns."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write("".join(map(_line, rows)))
            file.flush()
            os.fsync(file.fileno())
        self.rows.extend(rows)
        self.done.update(row.key for row in rows)

    def arrange(self, keys: Sequence[tuple[str, str, str]]) -> None:
        """Sorts the results of a finished run by the order of `keys`, also on disk."""
        place = {key: at for at, key in enumerate(keys)}
        arranged = sorted(self.rows, key=lambda row: place[row.key])
        if arranged != self.rows:
            self.rows = arranged
            _write_whole(self._path, "".join(map(_line, arranged)))

    def tokens(self) -> dict[str, int]:
        """Totals over the answered results: prompt tokens, reused prompt tokens, and output tokens."""
        answered = [row for row in self.rows if row.output is not None]
        names = ("n_prompt_tokens", "n_cached_tokens", "n_new_tokens")
        return {name: sum(getattr(row, name) or 0 for row in answered) for name in names}


def read_rows(folder: Path) -> list[Row]:
    """The finished results in a run folder; an incomplete last line is ignored."""
    path = folder / "results.jsonl"
    return [*stream_rows(path)]


def stream_rows(path: Path) -> Iterator[Row]:
    """The results in a results.jsonl one by one, as `read_rows`."""
    then = "delete the line to answer it again, or choose another --out"
    names: dict[str, str] = {}
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                found = parsed_json(line)
                if not isinstance(found, dict):
                    raise ValueError(f"found {shown(found)}, wanted the fields of one")
                place = f"{path}, line {number} is not a result"
                if "kind" not in found:
                    typed({key: found.get(key) for key in ("id", "task", "config")}, dict[str, str], place, then)
                yield _row(vars(typed(upgraded_row(found), _FIELDS, place, then)), names)
    except OSError as error:
        raise SetupError(f"{path} cannot be read: {error.strerror}; {then}") from None
    except ValueError as error:
        raise SetupError(f"{path}, line {number} is not a result: {error}; {then}") from None


def _row(values: dict[str, Any], names: dict[str, str]) -> Row:
    """A result whose names are one object each, however many results have them."""
    for field in _NAMES:
        values[field] = names.setdefault(values[field], values[field])
    values["scores"] = {names.setdefault(name, name): score for name, score in values["scores"].items()}
    if values["question_id"] == values["id"]:
        values["question_id"] = values["id"]
    return Row(**values)


def open_record(folder: Path, record: dict[str, Any]) -> None:
    """Opens or creates a run folder for `record`; SetupError if it contains a run with another record.

    A run of fewer instances, its limit the only difference, becomes one of more.
    """
    path = folder / "run.json"
    if not path.exists():
        if (folder / "results.jsonl").exists():
            raise SetupError(f"{folder} has results but no run.json; choose another --out")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_json(path, record)
        except OSError as error:
            raise SetupError(f"cannot write to {folder}: {error.strerror}; choose another --out") from None
        return
    earlier = typed(read_json(path, "choose another --out"), dict[str, Any], path, "choose another --out")
    names = sorted(differing(earlier, record))
    if names and _grows(earlier, record, names):
        write_json(path, record)
    elif names:
        told = [name for name in names if not name.startswith("planned")] or names
        raise SetupError(f"{folder} contains another run, which differs in {', '.join(told)}; choose another --out")


def _grows(earlier: dict[str, Any], record: dict[str, Any], names: Sequence[str]) -> bool:
    """Whether a run asks the instances of an earlier one and more: its limit is higher, and no shard moves any."""
    before, now = earlier.get("limit"), record.get("limit")
    more = isinstance(before, int) and (now is None or now >= before)
    alone = all(name == "limit" or name.startswith("planned") for name in names)
    return more and alone and record.get("shard") in (None, [1, 1])


def differing(one: Any, other: Any, name: str = "") -> Iterable[str]:
    """Dotted names of the values that differ between two records."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from differing(one.get(key), other.get(key), f"{name}.{key}" if name else key)
    elif one != other:
        yield name


def _line(row: Row) -> str:
    return json.dumps(asdict(row), ensure_ascii=False) + "\n"


def _write_whole(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
