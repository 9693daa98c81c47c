"""Datasets of format 1, whose facts are encoded in names and flags: the one place that decodes them.

`upgraded` returns the values of a manifest of format 2; `row_of` and `select` upgrade rows, in Python and in SQL.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.config import tokens_of
from builders.records import Facts, Name
from builders.sql import literal
from builders.tasks import KindName, TaskSpec

FORMAT = "icr2-manifest/1"

_LENGTH = "[1-9][0-9]*[km]?"
_WITH_RATIO = re.compile(f"(?P<length>{_LENGTH})_p(?P<ratio>[0-9]+)")
_OF_A_FAMILY = re.compile(f"(?P<family>loft|controlled|needles|frames|given)_(?P<length>{_LENGTH}|full)")
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
_MADE_TASKS = {"controlled": ("controlled_1hop", "controlled_2hop"), "frames": ("frames",)}
RETRIEVERS: dict[str, dict[str, str | bool]] = {
    "bm25": {"says": "BM25, by Lucene", "level": "passage", "neural": False},
    "bm25s": {"says": "BM25", "level": "passage", "neural": False},
    "dense": {"says": "dense, by exact search", "level": "passage", "neural": True},
    "tfidf": {"says": "TF-IDF of uni- and bigrams, weighted as DrQA does", "level": "page", "neural": False},
    "entity": {"says": "entity linking: mentions, then a bi-encoder", "level": "page", "neural": True},
}
_WAIVED = "answer_filter_not_applicable"

_DEPTH = re.compile(r"depth_([0-9]+)")
_NEEDLE_FLAGS = ("one_hop", "literal", "default", "inverted", "control")
_ENDS = {
    "controlled": "-d[0-9]{3}$",
    "needles": "-((one_hop|literal)-(default|inverted)-[0-9]+|control-[0-9]+)$",
}  # suffix of an instance's id after its question's, by family


class _Recipe(Facts):
    reserve: int | None = None
    kind: str | None = None
    tasks: dict[Name, Any] | None = None
    retrievers: dict[Name, dict[str, Any]] | None = None


class Values(Facts):
    """What a manifest of format 1 must have to be upgraded."""

    configs: dict[Name, dict[str, list[dict[str, Any]]]]
    recipe: _Recipe | None = None
    retrievers: dict[Name, dict[str, Any]] | None = None


def upgraded(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The values of a manifest in format 2, except `format`; what cannot be derived is left for the reader to refuse.

    Tasks that the recipe does not name are those of the rows in `folder`.
    """
    recipe, configs = values.get("recipe") or {}, values["configs"]
    facts = {name: {**config_facts(name, recipe), "files": files} for name, files in configs.items()}
    families = {config["family"] for config in facts.values()}
    tasks = {name: spec_of(name, families)._asdict() for name in _task_names(recipe, configs, folder)}
    return {**values, "configs": facts, "tasks": tasks, "retrievers": retrievers_of(values)}


def retrievers_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """The retrievers of a manifest, each with the facts that format 1 leaves to its kind in the recipe."""
    described: dict[str, Any] = dict(values.get("retrievers") or {})
    for name, spec in ((values.get("recipe") or {}).get("retrievers") or {}).items():
        if name in described:
            described[name] = {**RETRIEVERS.get(str(spec.get("kind")), {}), **described[name]}
    return described


def config_facts(name: str, recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Family, length, tokens, ratio, depth and budget of a config, from its name and the recipe."""
    facts: dict[str, Any] = {"family": "icr2", "length": None, "tokens": None, "ratio": None, "depth": None}
    if found := _WITH_RATIO.fullmatch(name):
        facts |= {"length": found["length"], "ratio": int(found["ratio"])}
    elif found := _OF_A_FAMILY.fullmatch(name):
        facts |= {"family": found["family"], "length": None if found["length"] == "full" else found["length"]}
    if facts["length"]:
        facts["tokens"] = tokens_of(facts["length"])
    return facts | {
        "budget": _budget(facts["tokens"], recipe.get("reserve", 0 if facts["family"] == "needles" else None))
    }


def _budget(tokens: int | None, reserve: int | None) -> int | None:
    if tokens is None:
        return None
    return tokens - (reserve if reserve is not None else (1024 if tokens >= 8192 else 256))


def spec_of(task: str, families: Collection[str] = ()) -> TaskSpec:
    """The task of a name, in a dataset with configs of these families; most are questions."""
    if set(families) == {"needles"}:
        return TaskSpec(task, "needle")
    return _TASKS.get(task) or TaskSpec(task, "qa")


def prompt_kind(task: str) -> str:
    """Which of three prompts a task of format 1 has: `qa`, `fact` or `dialogue`."""
    kind = spec_of(task).kind
    return kind if kind in ("fact", "dialogue") else "qa"


def _task_names(recipe: Mapping[str, Any], configs: Mapping[str, Any], folder: Path) -> list[str]:
    if isinstance(named := recipe.get("tasks"), dict):
        return list(named)
    if (kind := recipe.get("kind")) in _MADE_TASKS:
        return list(_MADE_TASKS[kind])
    return list(dict.fromkeys(_tasks_in_rows(configs, folder)))


def _tasks_in_rows(configs: Mapping[str, Any], folder: Path) -> Iterator[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in _paths(configs):
        if not path.startswith("/") and ".." not in path and (folder / path).is_file():
            try:
                column = pq.read_table(folder / path, columns=["task"]).column("task")
            except (pa.ArrowException, OSError, KeyError):
                continue  # the validation suite reports what is wrong with a file
            yield from sorted(str(task) for task in column.unique().to_pylist() if task)


def _paths(configs: Mapping[str, Any]) -> Iterator[str]:
    for splits in configs.values():
        for files in splits.values():
            yield from (file["path"] for file in files if isinstance(file.get("path"), str))


def row_of(row: Mapping[str, Any], config: str, family: str, spec: TaskSpec) -> dict[str, Any]:
    """A row in format 2: its columns of format 1 and the added ones."""
    flags = list(row.get("flags") or [])
    depths = [int(found[1]) for flag in flags if (found := _DEPTH.fullmatch(flag))]
    return {
        **row,
        "config": config,
        "question_id": question_id(row["id"], family),
        "kind": spec.kind,
        "answer_kind": _answer_kind(spec.kind, flags),
        "depth": depths[0] if depths else None,
        "flags": [flag for flag in flags if not _is_fact(flag, family)],
    }


def question_id(id: str, family: str) -> str:
    """The id of an instance's question, which other instances of its family share."""
    return re.sub(_ENDS[family], "", id) if family in _ENDS else id


def _is_fact(flag: str, family: str) -> bool:
    """Whether a column of format 2 replaces this flag."""
    return bool(_DEPTH.fullmatch(flag)) or (family == "needles" and flag in _NEEDLE_FLAGS)


def _answer_kind(kind: KindName, flags: list[str]) -> str:
    if _WAIVED not in flags:
        return "text"
    return "label" if kind == "fact" else "yesno"


def select(source: str, config: str, family: str, tasks: Mapping[str, TaskSpec], also: Sequence[str] = ()) -> str:
    """SQL of the rows of a source in format 2, in the order of its columns, then `also`: `row_of` in SQL."""
    kinds = " ".join(f"WHEN {literal(name)} THEN {literal(task.kind)}" for name, task in tasks.items())
    kind = f"CASE task {kinds} ELSE 'qa' END" if kinds else "'qa'"
    end = _ENDS.get(family)
    question = f"regexp_replace(id, {literal(end)}, '')" if end else "id"
    facts = f"regexp_full_match(flag, '{_DEPTH.pattern}')"
    if family == "needles":
        facts += f" OR flag IN {_NEEDLE_FLAGS}"
    depth = f"list_filter(flags, lambda flag: regexp_full_match(flag, '{_DEPTH.pattern}'))[1]"
    return f"""
        SELECT id, {literal(config)} AS config, {question} AS question_id, context_id, task, {kind} AS kind, query,
               answers,
               CASE WHEN NOT coalesce(list_contains(flags, '{_WAIVED}'), false) THEN 'text'
                    WHEN {kind} = 'fact' THEN 'label' ELSE 'yesno' END AS answer_kind,
               passages, gold, regexp_extract({depth}, '{_DEPTH.pattern}', 1)::INTEGER AS depth,
               n_tokens, confounding_ratio, hops, reasoning_types,
               list_filter(flags, lambda flag: NOT ({facts})) AS flags{"".join(f", {name}" for name in also)}
        FROM {source}"""
