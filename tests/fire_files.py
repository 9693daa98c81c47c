"""Fires mutated files of a dataset at every command that reads one, in this process, and counts what comes of it.

Run `python -m tests.fire_files [SEED] [FILES]`: each file goes to all commands, tracebacks are printed, and make the
exit code 1. The same seed makes the same files. Mutated are the manifest, validation.json, statistics.json, the card,
and the Parquet files.
"""

import json
import os
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from hashlib import sha256
from io import StringIO
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from builders.errors import SetupError
from eval_harness.data.dataset import load_instances, open_dataset, prompt_over
from eval_harness.lm_eval.write import source_of, task_files
from eval_harness.run.facts import facts_of
from tests.dataset_cards.cards import join_card, split_card
from tests.dataset_cards.handmade import passage, row, write_dataset
from tests.dataset_cards.ready import write
from tests.dataset_cards.test_dataset_info import with_info
from tests.fire_sources import mutated

ID = "a"
NAMES = ("manifest.json", "validation.json", "statistics.json", "README.md", "parquet")
COMMANDS: dict[str, list[str]] = {
    "sql": ["sql", "{ds}", "SELECT task, count(*) FROM all_configs GROUP BY task"],
    "show": ["show", "{ds}", "1k_p0", ID],
    "figure": ["figure", "{ds}", "{out}/figure.png", "--length", "1k"],
    "card": ["card", "{ds}"],
    "diff": ["diff", "{ds}", "{good}"],
    "publish": ["publish", "{ds}", "--repo", "me/it", "--dry-run"],
    "tasks": ["tasks", "{ds}", "--write", "{out}/tasks"],
    "validate": ["validate", "{ds}", "--only", "rows", "--only", "schema", "--only", "manifest", "--only", "ids",
                 "--only", "roles", "--only", "gold"],
    "read": ["read", "{ds}"],
}  # fmt: skip


def good_dataset(folder: Path) -> Path:
    """A small dataset with everything beside it, which every command accepts."""
    gold, other = passage("1:0", "gold"), passage("2:0", "confounder", "bm25")
    rows = {"1k_p0": {"test": [row(ID, [gold]), row("b", [gold])]}, "1k_p50": {"test": [row("c", [gold, other])]}}
    with_info(write_dataset(folder, rows))
    validation = json.loads((folder / "validation.json").read_text(encoding="utf-8"))
    for check in validation["checks"]:
        check |= {"says": "it holds", "unit": "instance", "rate": 0.0, "why": "a reason", "known": 0, "figures": {}}
    write(folder / "validation.json", validation)
    statistics = json.loads((folder / "statistics.json").read_text(encoding="utf-8"))
    digest = sha256((folder / "validation.json").read_bytes()).hexdigest()
    write(folder / "statistics.json", {**statistics, "validation_sha256": digest})
    return folder


def mutate(folder: Path, name: str, rng: Random) -> None:
    """Mutates one file of a dataset; a Parquet file is written with the manifest's digest of the good one."""
    if name == "parquet":
        return _mutate_parquet(rng.choice(sorted(folder.glob("*/*.parquet"))), rng)
    path = folder / name
    text = path.read_text(encoding="utf-8")
    if rng.random() < 0.05:
        path.write_bytes(_spoilt(text.encode(), rng))
        return None
    if name == "README.md":
        head, body = split_card(text)
        changed = mutated(rng, json.loads(json.dumps(head)))
        with suppress(yaml.YAMLError, ValueError):  # a value that YAML cannot write
            path.write_text(join_card(changed, body), encoding="utf-8", errors="surrogatepass")
        return None
    path.write_text(json.dumps(mutated(rng, json.loads(text))), encoding="utf-8", errors="surrogatepass")
    return None


def _spoilt(content: bytes, rng: Random) -> bytes:
    at = rng.randint(0, len(content))
    return rng.choice((content[:at], content[:at] + b"\xff\x00" + content[at:], b"", b"[]", b"null", b"[" * 9999))


def _mutate_parquet(path: Path, rng: Random) -> None:
    content = path.read_bytes()
    path.unlink()
    if rng.random() < 0.2:
        path.write_bytes(_spoilt(content, rng))
        return
    table = pq.read_table(pa.BufferReader(content))
    place = rng.randrange(table.num_columns)
    field = table.schema.field(place)
    match rng.randint(0, 4):
        case 0:
            table = table.remove_column(place)
        case 1:
            table = table.set_column(place, field, pa.nulls(len(table), field.type))
        case 2:
            type_ = rng.choice((pa.string(), pa.int64(), pa.list_(pa.int32()), pa.null(), pa.binary(), pa.bool_()))
            table = table.set_column(place, field.name, pa.nulls(len(table), type_))
        case 3:
            table = table.slice(0, 0)
        case _:
            rows = [mutated(rng, one) for one in json.loads(json.dumps(table.to_pylist()))]
            with suppress(pa.ArrowException, OverflowError, TypeError, ValueError, AttributeError):
                table = pa.Table.from_pylist(rows, schema=table.schema)
    pq.write_table(table, path)


def read(command: list[str]) -> None:
    """Reads all rows as `icr2 eval`, training and lm-eval do."""
    dataset = open_dataset(Path(command[1]))
    for config, about in dataset.manifest.configs.items():
        facts_of(about)
        for split in about.files:
            for instance in load_instances(dataset, config, split):
                prompt_over(instance, instance.passages)
    task_files(source_of(dataset.manifest, command[1]))


def outcome(command: list[str]) -> str:
    """What a command does with its files: accepted, refused (by code 1 or 2), a bad line, or a traceback."""
    from icr2_cli import app

    said = StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            code = read(command) if command[0] == "read" else app(command, prog_name="icr2", standalone_mode=False)
    except SetupError as error:
        return "refused" if str(error).strip() and "\n" not in str(error) and len(str(error)) < 2500 else "bad line"
    except SystemExit as end:
        code = end.code
    except Exception:
        sys.stderr.write(f"{command}\n{traceback.format_exc()[-2500:]}\n")
        return "traceback"
    return "refused" if code else "accepted"


def fire(seed: int, files: int, commands: Sequence[str] = tuple(COMMANDS), each: int | None = None) -> Counter:
    """The number of (file, command, outcome) over mutated files: each read by all commands, or by `each`, in turn."""
    rng, counts = Random(seed), Counter[tuple[str, str, str]]()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with tempfile.TemporaryDirectory() as root:
        good = good_dataset(Path(root) / "good")
        for number in range(files):
            turn, kind = divmod(number, len(NAMES))
            name = NAMES[kind]
            folder, out = Path(root) / f"ds{number}", Path(root) / f"out{number}"
            shutil.copytree(good, folder)
            mutate(folder, name, rng)
            for command in [commands[(turn + n) % len(commands)] for n in range(each or len(commands))]:
                filled = [argument.format(ds=folder, out=out, good=good) for argument in COMMANDS[command]]
                counts[name, command, outcome(filled)] += 1
            shutil.rmtree(folder)
            shutil.rmtree(out, ignore_errors=True)
    return counts


def main() -> int:
    """Prints the counts; 1 for a traceback."""
    given = [int(argument) for argument in sys.argv[1:]]
    seed, files = (given + [1, 500][len(given) :])[:2]
    counts = fire(seed, files)
    for (name, command, what), n in sorted(counts.items()):
        sys.stdout.write(f"{name:16} {command:9} {what:10} {n}\n")
    return int(any(what in ("traceback", "bad line") for _, _, what in counts))


if __name__ == "__main__":
    sys.exit(main())
