"""Where a dataset is written: only an empty place, or a dataset of ours without files of the user's, is replaced."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builders.errors import SetupError, shown
from builders.files import own_leftovers, remove

# What commands write into a dataset folder beside the files that its manifest lists.
_BESIDE = re.compile(
    r"(manifest|validation|statistics|croissant)\.json|README\.md|figures/(composition|tokens|gold_position|retrievers)\.png"
    r"|[^/]+/[^/]+-\d{5}-of-\d{5}\.parquet|(.+/)?\.[^/]+\.partial"
)
_NAMED = 5  # files in a message


def target_of(out: Path) -> Path:
    """The folder that a dataset is written to: `out`, or what it links to; SetupError where a link leads nowhere."""
    if out.is_symlink() and not out.exists():
        raise SetupError(f"{out} is a link to {out.readlink()}, which does not exist; create it, or use another --out")
    return out.resolve() if out.is_symlink() else out


def clear_leftovers(target: Path) -> None:
    """Removes what killed builds left beside `target`, after putting back a dataset that one was about to replace."""
    olds = own_leftovers(target, ".old.partial")
    if olds and not target.exists():
        olds[-1].rename(target)
    for leftover in (*own_leftovers(target, ".partial"), *own_leftovers(target, ".old.partial")):
        remove(leftover)


def check_dataset(target: Path, name: str, overwrite: bool) -> None:
    """SetupError if `target` is neither empty nor a dataset called `name`, or any dataset where `overwrite` is set."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not (target / "manifest.json").is_file():
        raise SetupError(f"{target} exists and is not a dataset (it has no manifest.json); choose another --out")
    found = manifest_values(target).get("name")
    if not overwrite and found is not None and found != name:
        raise SetupError(
            f"{target} holds the dataset {shown(found)}, not {name!r}; choose another --out, or add --overwrite"
        )


def check_files(target: Path) -> None:
    """SetupError if the dataset folder `target` has a file that icr2 did not write: replacing it would delete it."""
    if target.is_dir() and (others := sorted(_others(target, set(_listed(manifest_values(target).get("configs")))))):
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        named = ", ".join(others[:_NAMED])
        raise SetupError(
            f"{target} has files that icr2 build did not write: {named}{more}; move them, or choose another --out"
        )


def manifest_values(target: Path) -> dict[str, Any]:
    """The values of a folder's manifest, also of one that no command accepts any more; none where it is not JSON."""
    try:
        values = json.loads((target / "manifest.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _listed(value: Any) -> Iterator[str]:
    """Every `path` in the configs of a manifest."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as fields:
                if isinstance(path := fields.get("path"), str):
                    yield path
                waiting += fields.values()
            case list() as items:
                waiting += items


def _others(target: Path, listed: set[str]) -> set[str]:
    """What is in a dataset folder and not ours; a folder of such files by its own name."""
    entries = {path.relative_to(target).as_posix(): path for path in target.rglob("*")}
    files = {name for name, path in entries.items() if path.is_symlink() or not path.is_dir()}
    ours = {name for name in files if not entries[name].is_symlink() and (name in listed or _BESIDE.fullmatch(name))}
    folders = {parent.as_posix() for name in ours for parent in Path(name).parents}
    others = {name for name in entries if name not in ours and name not in folders}
    return {name for name in others if Path(name).parent.as_posix() not in others}
