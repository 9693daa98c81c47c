"""Writes the description of a dataset folder: statistics.json, figures, croissant.json and README.md."""

import re
from collections.abc import Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.card import licences_of
from builders.errors import SetupError
from builders.files import replacing, write_json
from builders.manifest import Config, Manifest, read_manifest
from builders.records import Facts
from builders.sql import identifier
from builders.typed import typed
from builders.views import connect
from dataset_cards import facts
from dataset_cards.columns import COLUMNS, MEMBERS
from dataset_cards.croissant import croissant
from dataset_cards.figures import richest, shown_splits, write_figures
from dataset_cards.head import head, schema_of
from dataset_cards.licences import licence_url
from dataset_cards.order import in_order
from dataset_cards.statistics import Advance, measure
from validation.reading import Shown
from validation.reading import read_validation as read_result

if TYPE_CHECKING:
    import pyarrow as pa

_MARKDOWN = re.compile(r"([\\`*\[\]<>|#~$]|(?<![^\W_])_|_(?![^\W_]))")  # an underscore inside a word needs no escape

_NEEDED = {None: ("chunk_words",), "controlled": ("world", "confounders"), "needles": ("fragment", "controls")}

_PARTS = ("README.md", "croissant.json", "figures", "statistics.json")

Record = dict[str, Any]


def write_card(folder: Path, published: str | None = None, advance: Advance = lambda: None) -> None:
    """Writes statistics.json, figures/, croissant.json and README.md into a dataset folder, all of them or none.

    `published` is a date (YYYY-MM-DD) for the Croissant file. SetupError if validation.json is of another manifest.
    """
    manifest = read_manifest(folder)
    validation = read_validation(folder, manifest)
    statistics = measure(folder, advance)
    schema = schema_of(folder, manifest)
    statistics["validation_sha256"] = _digest(folder / "validation.json") if validation else None
    text = render(folder, manifest, statistics, validation, head(manifest, statistics, schema))
    described = croissant(manifest, statistics, schema, published)
    with ExitStack() as together:  # nothing is renamed before all is written
        parts = {name: together.enter_context(replacing(folder / name)) for name in _PARTS}
        write_json(parts["statistics.json"], statistics, sort_keys=False)
        write_figures(statistics, manifest, parts["figures"])
        write_json(parts["croissant.json"], described, sort_keys=False)
        parts["README.md"].write_text(text, encoding="utf-8")


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def read_validation(folder: Path, manifest: Manifest) -> Record | None:
    """The result of `icr2 validate`, None without one; SetupError where it belongs to another dataset."""
    path = folder / "validation.json"
    if not path.is_file():
        return None
    return read_result(folder, manifest.sha256, Shown).model_dump()


def render(folder: Path, manifest: Manifest, statistics: Record, validation: Record | None, yaml_head: str) -> str:
    """The card's text."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(_FILTERS)
    known = _facts(folder, manifest, statistics)
    checks = validation["checks"] if validation else []
    warned = sum(check["status"] == "failed" and check["severity"] == "warning" for check in checks)
    card = environment.get_template("card.md.j2")
    text = card.render(**known, validation=validation, warned=warned, head=yaml_head)
    return re.sub(r"\n{3,}", "\n\n", text)


def _facts(folder: Path, manifest: Manifest, statistics: Record) -> Record:
    recipe, inputs, configs = manifest.recipe, manifest.inputs, manifest.configs
    shown = shown_splits(statistics, manifest)
    kind = recipe.get("kind")
    if missing := [name for name in _NEEDED.get(kind, ()) if recipe.get(name) is None]:
        raise SetupError(
            f"{folder}/manifest.json: recipe.{missing[0]}: found nothing, wanted a value; build the dataset again"
        )
    by_licence: dict[str, list[str]] = {}
    for place, given in inputs.items():
        by_licence.setdefault(given.licence or "", []).append(place)
    return {
        **{key: getattr(manifest, key) for key in ("name", "version", "language", "recipe", "recipe_digest", "inputs")},
        "description": facts.description(manifest, statistics),
        "dataset": statistics["dataset"],
        "rules": statistics["rules"],
        "manifest_sha256": statistics["manifest_sha256"],
        "tokenizer": manifest.tokenizer_name(),
        "configs": _configs(manifest, statistics, shown),
        "icr2": any(config.ratio is not None for config in configs.values()),
        "loft": any(config.family == "loft" for config in configs.values()),
        "kind": kind,
        "splits": manifest.splits,
        "shown": [_shown_split(config) for config in configs.values()],
        "richest": richest(shown),
        "tasks": [{"name": name, "about": facts.about(task)} for name, task in manifest.tasks.items()],
        "best": [name for name, task in recipe.get("tasks", {}).items() if task.get("gold") == "best"],
        "retrievers": facts.retrievers(manifest) if facts.has_confounders(statistics) else [],
        "neural": [name for name, made in manifest.retrievers.items() if made.get("neural")],
        "filtered": facts.filtered(manifest.counts),
        "left_out": facts.left_out(manifest),
        "flags": facts.flags(statistics),
        "limits": list(facts.limits(manifest, statistics)),
        "licences": sorted(by_licence) or licences_of(manifest),
        "by_licence": {licence: ", ".join(places) for licence, places in by_licence.items()},
        "columns": _columns(schema_of(folder, manifest)),
        "example": example(folder, manifest, statistics),
        "citation": facts.CITATION,
    }


def _shown_split(config: Config) -> str:
    return "test" if "test" in config.files else next(iter(config.files))


def _configs(manifest: Manifest, statistics: Record, shown: Mapping[str, Record]) -> list[Record]:
    return [
        {
            "name": name,
            "budget": manifest.configs[name].budget,
            "rows": {split: sum(f.rows for f in files) for split, files in manifest.configs[name].files.items()},
            "bytes": sum(split["bytes"] for split in statistics["configs"][name].values()),
            "group": shown[name],
            "roles": facts.role_means(shown[name]),
        }
        for name in in_order(manifest.configs)
    ]


def _columns(schema: "pa.Schema") -> list[Record]:
    """Name, type and meaning of every column; members of a list of structs follow it."""
    table = []
    for field in schema:
        table.append({"name": field.name, "type": _type(field.type), "about": COLUMNS.get(field.name, "")})
        for member in getattr(field.type, "value_type", ()) if _type(field.type) == "list of structs" else ():
            about = MEMBERS.get(member.name, "")
            table.append({"name": f"{field.name}.{member.name}", "type": _type(member.type), "about": about})
    return table


def _type(type_: "pa.DataType") -> str:
    import pyarrow as pa

    if pa.types.is_list(type_):
        return f"list of {_type(type_.value_type)}s"
    return "struct" if pa.types.is_struct(type_) else str(type_).removeprefix("large_")


class _Passage(Facts):
    title: str
    text: str
    role: str
    retrievers: list[str]


class _Row(Facts):
    id: str
    query: str
    answers: list[str]
    n_tokens: int
    passages: list[_Passage]


def example(folder: Path, manifest: Manifest, statistics: Record) -> Record:
    """A row of the shortest config, at the ratio nearest one half: the first task's shortest query without flags."""
    names = in_order(manifest.configs)
    first = manifest.configs[names[0]]
    same_length = [
        name
        for name in names
        if manifest.configs[name].family == first.family and manifest.configs[name].length == first.length
    ]
    config = min(same_length, key=lambda name: abs((manifest.configs[name].ratio or 0) - 50))
    split = _shown_split(manifest.configs[config])
    task = next(iter(statistics["configs"][config][split]["tasks"]))
    query = (
        f"SELECT * FROM {identifier(config)} WHERE split = ? AND task = ? ORDER BY len(flags), len(query), id LIMIT 1"
    )
    result = connect(folder).execute(query, [split, task])
    names = [column[0] for column in result.description]
    values = dict(zip(names, result.fetchall()[0], strict=True))
    row = typed(values, _Row, f"{config}/{split} of {manifest.name}", "see what is broken with: icr2 validate")
    return {"config": config, "split": split, "row": row, "group": statistics["configs"][config][split]}


def escaped(text: object) -> str:
    """Text escaped for Markdown, on one line, also in a table."""
    one_line = " ".join(str(text).replace("&", "&amp;").split())
    return _MARKDOWN.sub(r"\\\1", one_line)


def cut(text: str, most: int) -> str:
    """Text of at most `most` characters and an ellipsis, cut between words if possible."""
    if len(text) <= most:
        return text
    kept = text[: most + 1].rsplit(maxsplit=1)[0]
    return f"{kept[:most]} …"


def size(number: int) -> str:
    """Bytes in a readable unit, powers of ten."""
    for unit, power in (("GB", 9), ("MB", 6), ("kB", 3)):
        if number >= 10**power:
            return f"{number / 10**power:.1f} {unit}"
    return f"{number} B"


def _licence(licence: str) -> str:
    url = licence_url(licence)
    return f"[{escaped(licence)}]({url})" if url != licence else escaped(licence)


_FILTERS = {
    "md": escaped,
    "prose": lambda text: escaped(text).replace("\\`", "`"),  # our own text, with names in backticks
    "cut": cut,
    "size": size,
    "comma": lambda number: f"{number:,}",
    "whole": lambda number: f"{number:,.0f}",
    "tenth": lambda number: f"{number:,.1f}",
    "number": lambda number: f"{number:,.1f}".removesuffix(".0"),
    "percent": lambda share: f"{share:.2%}",
    "counts": lambda counts: ", ".join(f"{key}: {n:,}" for key, n in counts.items()),
    "codes": lambda names: facts.joined([f"`{name}`" for name in names]),
    "splits": lambda names: facts.joined([f"`{name}`" for name in dict.fromkeys(names)]),
    "plural": lambda unit, n: unit if n == 1 else f"{unit}s",
    "licence": _licence,
}
