"""Rows that do not fit each other."""

from tests.planted.folder import Folder, Found, Row, gold_of, recount
from tests.planted.plants.base import ANY, CONFIG, Expected, first_row, plant


@plant
def query_changed_in_one_config(folder: Folder) -> Expected:
    def change(row: Row) -> None:
        row["query"] = row["query"].replace("number", "numero")
        recount(row)

    row = folder.change(CONFIG, "test", change)
    return {"question": {(CONFIG, "test", row["id"], None)}}


@plant
def missing_from_one_ratio(folder: Folder) -> Expected:
    rows = folder.rows("1k_p100", "test")
    gone = rows.pop()
    folder.write("1k_p100", "test", rows)
    return {"matched": {("1k_p100", "test", gone["id"], None)}}


@plant
def passages_moved(folder: Folder) -> Expected:
    """Two passages swap positions in one context."""
    moved: set[str] = set()

    def change(row: Row) -> None:
        a, b = [at for at, passage in enumerate(row["passages"]) if passage["role"] == "confounder"][:2]
        moved.update((row["passages"][a]["pid"], row["passages"][b]["pid"]))
        row["passages"][a], row["passages"][b] = row["passages"][b], row["passages"][a]

    row = folder.change("1k_p100", "test", change)
    less = next(r for r in folder.rows("1k_p50", "test") if r["id"] == row["id"])
    found: set[Found] = {("1k_p100", "test", row["id"], ANY)}
    if moved <= {passage["pid"] for passage in less["passages"]}:
        found.add(("1k_p50", "test", row["id"], ANY))
    return {"order": found}


@plant
def test_query_in_train(folder: Folder) -> Expected:
    """One input in two splits; case and punctuation differ."""
    asked, target = first_row(folder), first_row(folder, "train")["id"]
    found: set[Found] = set()

    def change(config: str, row: Row) -> None:
        if row["id"] == target:
            row["query"] = asked["query"].replace("?", "!").replace("nq", "NQ")
            recount(row)
            found.add((config, "train", target, None))

    folder.change_all(change, ("train",))
    return {"split_overlap": found | {(config, "test", asked["id"], None) for config in folder.configs}}


@plant
def test_query_nearly_in_train(folder: Folder) -> Expected:
    test, train = first_row(folder)["id"], first_row(folder, "train")["id"]
    base = "in which year was the old stone bridge over the river built"
    found: set[Found] = set()

    def change(config: str, row: Row) -> None:
        if row["id"] in (test, train):
            row["query"] = base + (" again?" if row["id"] == train else "?")
            recount(row)
            found.add((config, "train" if row["id"] == train else "test", row["id"], None))

    folder.change_all(change, ("train", "test"))
    return {"near_query": found, "...": None}


@plant
def gold_page_in_train(folder: Folder) -> Expected:
    """A test question and a train question have gold from the same page."""
    test, page = first_row(folder), gold_of(first_row(folder, "train"))["pid"].split(":")[0]
    old, new = gold_of(test)["pid"], f"{page}:9"
    found = folder.change_passage(old, lambda passage: passage.update(pid=new))
    return {"gold_page_overlap": {(config, split, id, None) for config, split, id, _ in found if id == test["id"]}}
