"""The files match the manifest, to the byte."""

from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path

import pyarrow.parquet as pq
from pyarrow import ArrowException

from validation.checks.base import Check
from validation.dataset import File
from validation.measures import Measures


def _find(m: Measures) -> str:
    folder = m.dataset.folder
    found: list[tuple[str | None, ...]] = [
        (f.config, f.split, f.path, None, what) for f in m.dataset.files for what in _differences(folder, f)
    ]
    if m.dataset.whole:
        listed = {file.path for file in m.dataset.files}
        there = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet"))
        found += [(None, None, path, None, "is not in the manifest") for path in there if path not in listed]
    return m.found("manifest", found)


def _differences(folder: Path, file: File) -> Iterator[str]:
    path = folder / file.path
    if not path.is_file():
        yield "is missing"
        return
    if (size := path.stat().st_size) != file.bytes:
        yield f"has {size:,} bytes, the manifest says {file.bytes:,}"
    with path.open("rb") as content:
        if file_digest(content, "sha256").hexdigest() != file.sha256:
            yield "has a different sha256 than in the manifest"
    try:
        rows = pq.read_metadata(path).num_rows
    except (ArrowException, OSError):
        return  # reported by the schema check
    if rows != file.rows:
        yield f"has {rows:,} rows, the manifest says {file.rows:,}"


CHECK = Check(
    name="manifest",
    says="the folder has exactly the manifest's files, with their bytes, rows and sha256",
    why="a file was changed, lost or added after the build, so the manifest no longer describes the dataset",
    severity="error",
    unit="file",
    find=_find,
)
