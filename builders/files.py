"""Atomic writes of files and folders: Arrow tables, JSON, and anything else."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders.errors import SetupError, without_secrets


def write_table(path: Path, table: pa.Table) -> None:
    """Writes one uncompressed Arrow file with one record batch, to be memory-mapped."""
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table.combine_chunks(), max_chunksize=max(1, table.num_rows))


def read_table(path: Path) -> pa.Table:
    """A memory-mapped Arrow file."""
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def write_json(path: Path, value: Any, sort_keys: bool = True, indent: int = 2) -> None:
    """Writes JSON atomically, with one trailing newline."""
    with replacing(path) as partial:
        partial.write_text(
            json.dumps(value, indent=indent, sort_keys=sort_keys, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def write_text(path: Path, text: str) -> None:
    """Writes a text atomically, with its line breaks as they are."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="")


def save_figure(figure: Any, path: Path) -> None:
    """Writes a figure atomically, as PNG or as its suffix says; without the library's version, for equal bytes."""
    form = path.suffix.removeprefix(".").lower() or "png"
    with replacing(path) as partial:
        figure.savefig(partial, dpi=150, format=form, metadata={"Software": None} if form == "png" else None)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path next to `path` for a file or folder; it is renamed to `path`, or removed on an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    remove(partial)
    try:
        yield partial
        if path.is_dir() and not _exchanged(partial, path):
            old = path.with_name(f".{path.name}.{os.getpid()}.old.partial")
            path.rename(old)
            partial.rename(path)
            remove(old)
        elif not path.is_dir():
            partial.replace(path)
    finally:
        remove(partial)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether two folders changed places at one moment; False where the system cannot do that."""
    if sys.platform != "linux":
        return False
    import ctypes

    rename = getattr(ctypes.CDLL(None), "renameat2", None)  # glibc 2.28
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0


def own_leftovers(path: Path, ending: str) -> list[Path]:
    """What `replacing` left beside `path` in processes that were killed, by its ending, sorted."""
    if not path.parent.is_dir():
        return []
    names = (p for p in path.parent.iterdir() if p.name.startswith(f".{path.name}.") and p.name.endswith(ending))
    return sorted(p for p in names if p.name.removeprefix(f".{path.name}.").removesuffix(ending).isdigit())


def remove(path: Path) -> None:
    """Removes a file or folder, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def checked_folder(path: Path, what: str) -> Path:
    """A writable folder, created if missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / f".{os.getpid()}.probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise SetupError(f"cannot write to the {what} {path}: {error.strerror}; choose another folder") from None
    return path


def link_or_copy(source: str | Path, target: str | Path) -> None:
    """Puts a finished file in another place as a link, or as a copy where there are no links."""
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)


def is_file(path: Path) -> bool:
    """Whether a path is a file; one that no file can have, since it is too long, is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether a path is a folder, in the same way."""
    try:
        return path.is_dir()
    except OSError:
        return False


def expanded(written: str) -> Path:
    """A path as someone wrote it, with `~` as a home folder; SetupError where no such user is known."""
    try:
        return Path(written).expanduser()
    except RuntimeError:
        user = written.split("/")[0]
        raise SetupError(f"{written}: no home folder is known for {user}; write the whole path") from None


def without_folders(value: Any, source: set[str]) -> Any:
    """The value with the path of every source in it cut to its file name, and all URLs without their secrets.

    A source is a mapping with the fields `source`, of which one is `path`.
    """
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, list):
        return [without_folders(part, source) for part in value]
    if not isinstance(value, dict):
        return value
    if value.keys() >= source and value["path"]:
        value = {**value, "path": source_name(value["path"])}
    return {key: without_folders(part, source) for key, part in value.items()}


def source_name(path: str) -> str:
    """The name of a file given by its path or URL, without what a URL has after its path."""
    return without_secrets(path).rsplit("/", 1)[-1]
