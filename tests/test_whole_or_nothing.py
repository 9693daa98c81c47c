"""A full disk, or a limit on the size of files: what a command writes is there whole or not at all."""

import errno
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from builders.errors import SetupError
from builders.figure import write_figure
from builders.files import save_figure, write_json, write_text
from dataset_cards.card import write_card
from tests.fire_files import good_dataset
from validation.dataset import read_dataset
from validation.report import report, write_html, write_report
from validation.suite import run_suite


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """A limit on the size of files that are written, as `ulimit -f` sets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return good_dataset(tmp_path_factory.mktemp("good") / "ds")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def of_a_figure(path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot(range(100), range(100))
    save_figure(figure, path)


CONTENT = {
    "checks": [],
    "version": "1.0.0",
    "dataset": "x" * 9000,
    "complete": True,
    "passed": True,
    "manifest_sha256": "0" * 64,
    "written_with": {},
}
WRITERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a figure": ("a.png", of_a_figure),
    "a drawing": ("a.svg", of_a_figure),
    "a text": ("a.md", lambda path: write_text(path, "x" * 5000)),
    "JSON": ("a.json", lambda path: write_json(path, ["x" * 5000])),
    "validation.json": ("validation.json", lambda path: write_report(CONTENT, path)),
    "a page": ("index.html", lambda path: write_html(CONTENT, path.parent)),
}


@pytest.mark.parametrize("what", WRITERS)
@pytest.mark.parametrize("before", [None, b"before"])
def test_a_file_is_written_whole_or_stays(what: str, before: bytes | None, tmp_path: Path) -> None:
    name, write = WRITERS[what]
    if before:
        (tmp_path / name).write_bytes(before)
    with no_file_above(1000), pytest.raises(OSError) as refused:
        write(tmp_path / name)
    assert refused.value.errno == errno.EFBIG
    assert contents(tmp_path) == ({name: before} if before else {})
    write(tmp_path / name)
    assert list(contents(tmp_path)) == [name] and len(contents(tmp_path)[name]) > 1000


@pytest.mark.parametrize("size", [500, 3000, 12000])
def test_a_card_is_written_with_everything_or_not_at_all(size: int, good: Path) -> None:
    before = contents(good)
    with no_file_above(size), pytest.raises(OSError, match="too large"):
        write_card(good)
    assert contents(good) == before


def test_a_figure_of_a_dataset_leaves_nothing(good: Path, tmp_path: Path) -> None:
    with no_file_above(1000), pytest.raises(OSError, match="too large"):
        write_figure(good, "1k", tmp_path / "roles.png")
    assert contents(tmp_path) == {}
    with pytest.raises(SetupError, match=r"found the suffix '.pdf', wanted .png or .svg"):
        write_figure(good, "1k", tmp_path / "roles.pdf")


@pytest.mark.parametrize("size", [0, 4096, 300_000])
def test_a_check_that_cannot_write_says_so_and_finds_no_defect(size: int, good: Path) -> None:
    """DuckDB's own files are too large then, and not the dataset's unreadable."""
    dataset = read_dataset(good)
    with no_file_above(size):
        try:
            outcomes = run_suite(dataset, ["rows", "schema"], lambda step: None)
        except SetupError as refused:
            assert "cannot write more" in str(refused) and "\n" not in str(refused)
        else:
            assert [check["status"] for check in report(dataset, outcomes)["checks"][:2]] != ["failed", "failed"]
            assert not any(outcome.failing for outcome in outcomes)
