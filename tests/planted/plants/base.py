"""Defects, one per function: each plants one in a good dataset and returns which checks must find it, and where.

A plant returns, for each check that must fail, the set of (config, split, id, pid) that it must name. `None` as a set
means that the check must fail and its findings are not of rows (a statistic).
"""

from collections.abc import Callable

from tests.planted.folder import Folder, Found, Row

Expected = dict[str, set[Found] | None]
PLANTS: dict[str, Callable[[Folder], Expected]] = {}
CONFIG = "2k_p50"
ANY = "any pid"  # where a check names one of several passages


def plant(function: Callable[[Folder], Expected]) -> Callable[[Folder], Expected]:
    """Registers a plant by its name."""
    PLANTS[function.__name__] = function
    return function


def retext(change: Callable[[str], str]) -> Callable[[Row], None]:
    def changed(passage: Row) -> None:
        passage["text"] = change(passage["text"])

    return changed


def passage_that_is_not_gold(folder: Folder, role: str = "random", task: str = "nq") -> tuple[Row, str]:
    """A test row and the pid of a passage in its context that is gold for no question."""
    rows = [row for split in ("train", "validation", "test") for row in folder.rows(CONFIG, split)]
    golds = {row["passages"][at]["pid"] for row in rows for at in row["gold"]}
    return next(
        (row, passage["pid"])
        for row in folder.rows(CONFIG, "test")
        if row["task"] == task
        for passage in row["passages"]
        if passage["role"] == role and passage["pid"] not in golds
    )


def first_row(folder: Folder, split: str = "test", task: str = "nq") -> Row:
    return next(row for row in folder.rows(CONFIG, split) if row["task"] == task)


def embed(words: str) -> Callable[[Row], None]:
    """Puts words into a passage, for so many others that it grows no longer in tokens."""

    def change(passage: Row) -> None:
        rest = passage["text"].split()[3 + 4 * len(words.split()) :]
        passage["text"] = " ".join([words, *rest])

    return change


def of_row(found: list[Found], id: str) -> set[Found]:
    return {place for place in found if place[2] == id}
