"""Defects, one a function: each plants one in a good dataset and says which checks must find it, and where.

A plant returns, for each check that must fail, the set of (config, split, id, pid) that it must name. `None` as a set
means that the check must fail and its findings are not of rows (a statistic).
"""

import shutil
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq

from builders.schema import INSTANCES
from tests.planted.folder import Folder, Found, Row, gold_of, non_gold, recount

Expected = dict[str, set[Found] | None]
PLANTS: dict[str, Callable[[Folder], Expected]] = {}
CONFIG = "2k_p50"
ANY = "any pid"  # where a check names one of several passages


def plant(function: Callable[[Folder], Expected]) -> Callable[[Folder], Expected]:
    """Registers a plant by its name."""
    PLANTS[function.__name__] = function
    return function


def _text(change: Callable[[str], str]) -> Callable[[Row], None]:
    def changed(passage: Row) -> None:
        passage["text"] = change(passage["text"])

    return changed


def _other(folder: Folder, role: str = "random", task: str = "nq") -> tuple[Row, str]:
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


def _first(folder: Folder, split: str = "test", task: str = "nq") -> Row:
    return next(row for row in folder.rows(CONFIG, split) if row["task"] == task)


def _embed(words: str) -> Callable[[Row], None]:
    """Puts words into a passage, for so many others that it grows no longer in tokens."""

    def change(passage: Row) -> None:
        rest = passage["text"].split()[3 + 4 * len(words.split()) :]
        passage["text"] = " ".join([words, *rest])

    return change


def _of(found: list[Found], id: str) -> set[Found]:
    return {place for place in found if place[2] == id}


# --- files


@plant
def wrong_sha256(folder: Folder) -> Expected:
    folder.manifest["configs"][CONFIG]["test"][0]["sha256"] = "0" * 64
    folder.save_manifest()
    return {"manifest": {(CONFIG, "test", f"{CONFIG}/test-00000-of-00001.parquet", None)}}


@plant
def wrong_row_count(folder: Folder) -> Expected:
    folder.manifest["configs"][CONFIG]["test"][0]["rows"] += 1
    folder.save_manifest()
    return {"manifest": {(CONFIG, "test", f"{CONFIG}/test-00000-of-00001.parquet", None)}}


@plant
def edited_by_hand(folder: Folder) -> Expected:
    """A row's score is changed and the file written again: nothing but the digest can tell."""
    rows = folder.rows(CONFIG, "test")
    confounder = next(p for p in rows[0]["passages"] if p["role"] == "confounder")
    confounder["score"] += 1
    pq.write_table(pa.Table.from_pylist(rows, schema=INSTANCES), folder.file(CONFIG, "test"))
    return {"manifest": {(CONFIG, "test", f"{CONFIG}/test-00000-of-00001.parquet", None)}}


@plant
def stray_file(folder: Folder) -> Expected:
    shutil.copy(folder.file(CONFIG, "test"), folder.path / CONFIG / "extra.parquet")
    return {"manifest": {(None, None, f"{CONFIG}/extra.parquet", None)}}


@plant
def missing_file(folder: Folder) -> Expected:
    file = folder.file("loft_2k", "test")
    file.unlink()
    at = ("loft_2k", "test", "loft_2k/test-00000-of-00001.parquet", None)
    return {"manifest": {at}, "schema": {at}, "rows": {("loft_2k", "test", None, None)}}


@plant
def broken_file(folder: Folder) -> Expected:
    file = folder.file("loft_2k", "test")
    file.write_bytes(b"PAR1 and then nothing")
    at = ("loft_2k", "test", "loft_2k/test-00000-of-00001.parquet", None)
    return {"manifest": {at}, "schema": {at}, "rows": {("loft_2k", "test", None, None)}}


@plant
def other_schema(folder: Folder) -> Expected:
    """case 93: a list where the others have a large list."""
    table = pq.read_table(folder.file("loft_2k", "test"))
    at = table.schema.get_field_index("answers")
    table = table.set_column(at, "answers", table["answers"].cast(pa.large_list(pa.string())))
    pq.write_table(table.replace_schema_metadata({"format": "icr2-instance/1"}), folder.file("loft_2k", "test"))
    folder.describe("loft_2k", "test")
    return {"schema": {("loft_2k", "test", "loft_2k/test-00000-of-00001.parquet", None)}}


@plant
def null_typed_column(folder: Folder) -> Expected:
    """cases 90, 110: a column of nulls written without its type."""
    table = pq.read_table(folder.file("loft_2k", "test"))
    at = table.schema.get_field_index("reasoning_types")
    table = table.set_column(at, "reasoning_types", pa.nulls(len(table)))
    pq.write_table(table.replace_schema_metadata({"format": "icr2-instance/1"}), folder.file("loft_2k", "test"))
    folder.describe("loft_2k", "test")
    return {"schema": {("loft_2k", "test", "loft_2k/test-00000-of-00001.parquet", None)}}


@plant
def empty_split(folder: Folder) -> Expected:
    """case 114: a table without rows passes any other check."""
    folder.write("loft_2k", "validation", [])
    return {"rows": {("loft_2k", "validation", None, None)}}


# --- rows


@plant
def null_id(folder: Folder) -> Expected:
    """case 115: Great Expectations leaves nulls out of uniqueness."""
    row = folder.change("loft_2k", "test", lambda row: row.update(id=None))
    assert row["id"] is None
    return {"ids": {("loft_2k", "test", None, None)}}


@plant
def id_twice(folder: Folder) -> Expected:
    """case 42: an id with two queries."""
    rows = folder.rows("loft_2k", "train")
    first, second = [row for row in rows if row["task"] == "nq"][:2]
    left = second["id"]
    second["id"] = first["id"]
    folder.write("loft_2k", "train", rows)
    twice = ("loft_2k", "train", first["id"], None)
    assert left != first["id"]
    return {"ids": {twice}, "question": {twice}, "same_gold": {twice}}


@plant
def empty_answer(folder: Folder) -> Expected:
    found: set[Found] = set()

    def change(config: str, row: Row) -> None:
        if row["id"] == target:
            row["answers"] = [*row["answers"], " "]
            found.add((config, "test", row["id"], None))

    target = _first(folder)["id"]
    folder.change_all(change)
    return {"complete": found}


@plant
def no_text(folder: Folder) -> Expected:
    _, pid = _other(folder)
    found = folder.change_passage(pid, _text(lambda text: " "))
    return {"complete": set(found), "...": None}


@plant
def gold_position_wrong(folder: Folder) -> Expected:
    def change(row: Row) -> None:
        row["gold"] = [non_gold(row)]

    row = folder.change(CONFIG, "test", change)
    named = row["passages"][row["gold"][0]]["pid"]
    left = next(passage["pid"] for passage in row["passages"] if passage["role"] == "gold")
    at = (CONFIG, "test", row["id"])
    return {
        "gold": {(*at, named), (*at, left)},
        "same_gold": {(*at, None)},
        "answer_in_context": {(*at, left)},
        "answer_in_gold": {(*at, None)},
    }


@plant
def no_gold(folder: Folder) -> Expected:
    row = folder.change(CONFIG, "test", lambda row: row.update(gold=[]), task="fever")
    at = (CONFIG, "test", row["id"])
    pid = next(passage["pid"] for passage in row["passages"] if passage["role"] == "gold")
    return {"gold": {(*at, None), (*at, pid)}}


@plant
def random_in_place_of_confounder(folder: Folder) -> Expected:
    """The role says confounder, and no retriever found it."""

    def change(row: Row) -> None:
        row["passages"][non_gold(row, "random")].update(role="confounder")
        row["confounding_ratio"] = _achieved(row)

    row = folder.change("1k_p0", "test", change)
    pid = next(p["pid"] for p in row["passages"] if p["role"] == "confounder")
    return {"roles": {("1k_p0", "test", row["id"], pid)}, "ratio": {("1k_p0", "test", row["id"], None)}}


def _achieved(row: Row) -> float:
    others = [passage for passage in row["passages"] if passage["role"] != "gold"]
    return sum(passage["role"] == "confounder" for passage in others) / len(others)


@plant
def wrong_ratio_stated(folder: Folder) -> Expected:
    row = folder.change(CONFIG, "test", lambda row: row.update(confounding_ratio=0.75))
    return {"ratio": {(CONFIG, "test", row["id"], None)}}


@plant
def wrong_ratio(folder: Folder) -> Expected:
    """Two confounders become random passages, and the row says so."""

    def change(row: Row) -> None:
        for _ in range(2):
            row["passages"][non_gold(row, "confounder")].update(role="random", retrievers=[], rank=None, score=None)
        row["confounding_ratio"] = _achieved(row)

    row = folder.change(CONFIG, "test", change)
    return {"ratio": {(CONFIG, "test", row["id"], None)}}


@plant
def unknown_retriever(folder: Folder) -> Expected:
    row = folder.change(
        CONFIG, "test", lambda row: row["passages"][non_gold(row, "confounder")].update(retrievers=["other"])
    )
    pid = row["passages"][non_gold(row, "confounder")]["pid"]
    return {"roles": {(CONFIG, "test", row["id"], pid)}}


@plant
def over_budget(folder: Folder) -> Expected:
    """Passages of a longer context stand in a shorter one."""
    long = next(row for row in folder.rows("2k_p0", "test") if row["task"] == "nq")

    def change(row: Row) -> None:
        row.update(passages=long["passages"], gold=long["gold"], n_tokens=long["n_tokens"])

    folder.change("1k_p0", "test", change)
    return {"budget": {("1k_p0", "test", long["id"], None)}}


@plant
def tokens_of_another_tokenizer(folder: Folder) -> Expected:
    """case 69: the count is not that of the rendered prompt."""
    row = folder.change(CONFIG, "test", lambda row: row.update(n_tokens=row["n_tokens"] - 60))
    return {"token_count": {(CONFIG, "test", row["id"], None)}}


@plant
def short_and_not_flagged(folder: Folder) -> Expected:
    """case 69: half of the passages are gone, and nothing says so."""

    def change(row: Row) -> None:
        keep = [p for p in row["passages"] if p["role"] == "gold"] + [
            p for p in row["passages"] if p["role"] != "gold"
        ][:2]
        row["passages"] = [passage for passage in row["passages"] if passage in keep]
        row["gold"] = [at for at, passage in enumerate(row["passages"]) if passage["role"] == "gold"]
        recount(row)

    row = folder.change("2k_p0", "test", change)
    at = ("2k_p0", "test", row["id"], None)
    short = next(r for r in folder.rows("1k_p0", "test") if r["id"] == row["id"])
    lost = {p["pid"] for p in short["passages"]} - {p["pid"] for p in row["passages"]}
    return {"flags": {at}, "nested": {("1k_p0", "test", row["id"], pid) for pid in lost}}


@plant
def unknown_flag(folder: Folder) -> Expected:
    row = folder.change(CONFIG, "test", lambda row: row.update(flags=["looks_fine"]))
    return {"flags": {(CONFIG, "test", row["id"], None)}}


@plant
def passage_twice(folder: Folder) -> Expected:
    def change(row: Row) -> None:
        first = non_gold(row)
        second = next(at for at, p in enumerate(row["passages"]) if at > first and p["role"] != "gold")
        row["passages"][second] = row["passages"][first]
        recount(row)

    row = folder.change("2k_p0", "test", change)
    pid = row["passages"][non_gold(row)]["pid"]
    short = next(r for r in folder.rows("1k_p0", "test") if r["id"] == row["id"])
    lost = {p["pid"] for p in short["passages"]} - {p["pid"] for p in row["passages"]}
    expected: Expected = {"passage_twice": {("2k_p0", "test", row["id"], pid)}}
    if lost:
        expected["nested"] = {("1k_p0", "test", row["id"], pid) for pid in lost}
    return expected


@plant
def text_changed_in_one_row(folder: Folder) -> Expected:
    """case 46: a passage cleaned in one place only."""

    def change(row: Row) -> None:
        passage = row["passages"][non_gold(row, "random")]
        passage["text"] = passage["text"].replace(".", ";", 1)

    row = folder.change("2k_p0", "test", change)
    pid = row["passages"][non_gold(row, "random")]["pid"]
    expected: Expected = {"pid_text": {("2k_p0", "test", row["id"], pid)}}
    short = next(r for r in folder.rows("1k_p0", "test") if r["id"] == row["id"])
    if pid in {passage["pid"] for passage in short["passages"]}:
        expected["nested"] = {("1k_p0", "test", row["id"], pid)}
    return expected


@plant
def contexts_differ(folder: Folder) -> Expected:
    """Rows that say they share a context do not."""
    rows = folder.rows("loft_2k", "test")
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["context_id"], []).append(row)
    last = next(group for group in groups.values() if len(group) > 1)[-1]
    gold = [last["passages"][at]["pid"] for at in last["gold"]]
    last["passages"] = [*last["passages"][1:], last["passages"][0]]
    last["gold"] = sorted(at for at, passage in enumerate(last["passages"]) if passage["pid"] in gold)
    folder.write("loft_2k", "test", rows)
    return {"context": {("loft_2k", "test", last["id"], None)}, "...": None}


@plant
def context_id_of_another(folder: Folder) -> Expected:
    row = folder.change(CONFIG, "test", lambda row: row.update(context_id="nq-somebody"))
    return {"context": {(CONFIG, "test", row["id"], None)}}


# --- rows against each other


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
    """Two passages change places in one context."""
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
    """case 41: one input in two splits; case and punctuation differ."""
    asked, target = _first(folder), _first(folder, "train")["id"]
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
    test, train = _first(folder)["id"], _first(folder, "train")["id"]
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
    """A test question's gold passage is of a page that a train question's gold is of."""
    test, page = _first(folder), gold_of(_first(folder, "train"))["pid"].split(":")[0]
    old, new = gold_of(test)["pid"], f"{page}:9"
    found = folder.change_passage(old, lambda passage: passage.update(pid=new))
    return {"gold_page_overlap": {(config, split, id, None) for config, split, id, _ in found if id == test["id"]}}


# --- leaks


@plant
def answer_in_confounder(folder: Folder) -> Expected:
    row, pid = _other(folder, "confounder")
    found = folder.change_passage(pid, _embed(f"The sign is {row['answers'][0].upper()}."))
    return {"answer_in_context": _of(found, row["id"])}


@plant
def answer_in_random_title(folder: Folder) -> Expected:
    row, pid = _other(folder)

    def change(passage: Row) -> None:
        passage["title"] = f"Place of {row['answers'][0]}"
        passage["text"] = " ".join(passage["text"].split()[12:])

    return {"answer_in_context": _of(folder.change_passage(pid, change), row["id"])}


@plant
def alias_in_random(folder: Folder) -> Expected:
    """case 66: the second answer of a question leaks, not the first."""
    row, pid = _other(folder)

    def alias(config: str, other: Row) -> None:
        if other["id"] == row["id"]:
            other["answers"] = [*other["answers"], "Quern of Lodd"]

    folder.change_all(alias)
    return {"answer_in_context": _of(folder.change_passage(pid, _embed("It is the quern of the Lodd!")), row["id"])}


@plant
def answer_that_is_an_article(folder: Folder) -> Expected:
    """case 64: the answer A, which normalising would lose."""
    row, pid = _other(folder)

    def answer(config: str, other: Row) -> None:
        if other["id"] == row["id"]:
            other["answers"] = ["A"]

    folder.change_all(answer)
    found = folder.change_passage(pid, _embed("It is a field."))
    unseen = {(config, split, id, None) for config, split, id, _ in _of(found, row["id"])}
    everywhere = {(config, "test", row["id"], None) for config in folder.configs}
    assert unseen <= everywhere
    return {"answer_in_context": _of(found, row["id"]), "answer_in_gold": everywhere}


@plant
def answer_excused(folder: Folder) -> Expected:
    """case 65: a flag excuses a row whose answer is text."""
    found: set[Found] = set()
    target = _first(folder)["id"]

    def change(config: str, row: Row) -> None:
        if row["id"] == target:
            row["flags"] = [*row["flags"], "answer_filter_not_applicable"]
            found.add((config, "test", target, None))

    folder.change_all(change)
    return {"waiver": found}


@plant
def answer_without_accents(folder: Folder) -> Expected:
    """The answer stands in a passage with ss for ß and without its accents."""
    return _notation(folder, "Großer Zürpilén", "Grosser Zurpilen")


@plant
def answer_with_separators(folder: Folder) -> Expected:
    return _notation(folder, "1234567", "1,234,567")


@plant
def answer_date_otherwise(folder: Folder) -> Expected:
    return _notation(folder, "March 5, 1871", "on the 5th of March 1871")


def _notation(folder: Folder, answer: str, written: str) -> Expected:
    row, pid = _other(folder)
    found = folder.change_passage(pid, _embed(f"Here {written} stands."))
    gold = gold_of(row)["pid"]

    def change(config: str, other: Row) -> None:
        if other["id"] == row["id"]:
            other["answers"] = [*other["answers"], answer]

    folder.change_all(change)
    assert gold != pid
    return {"other_notation": _of(found, row["id"])}


@plant
def sibling_holds_answer(folder: Folder) -> Expected:
    row, pid = _other(folder)
    sibling = gold_of(row)["pid"].split(":")[0] + ":9"

    def change(passage: Row) -> None:
        _embed(f"Its sign is {row['answers'][0]}.")(passage)
        passage["pid"] = sibling

    found = {
        (config, split, id, sibling) for config, split, id, _ in _of(folder.change_passage(pid, change), row["id"])
    }
    return {"answer_in_context": found, "sibling_answer": found}


@plant
def gold_among_random(folder: Folder) -> Expected:
    """case 72: gold again, with other spaces and stops, under another pid."""
    row, pid = _other(folder, task="fever")
    gold = gold_of(row)
    found = folder.change_passage(
        pid, lambda passage: passage.update(text=gold["text"].replace(". ", " ; ").lower(), title=gold["title"])
    )
    again = {
        (config, split, other["id"], pid)
        for config in folder.configs
        for split in ("train", "validation", "test")
        for other in folder.rows(config, split)
        if any(other["passages"][at]["pid"] == gold["pid"] for at in other["gold"])
        and any(passage["pid"] == pid for passage in other["passages"])
    }
    twice = {
        (config, split, other["id"], ANY)
        for config in folder.configs
        for split in ("train", "validation", "test")
        for other in folder.rows(config, split)
        if {pid, gold["pid"]} <= {p["pid"] for p in other["passages"] if p["role"] != "gold"}
    }
    assert again <= set(found)
    near = {place for place in again if _role(folder, place) == "random"}
    return {"gold_overlap": again, "near_gold": near, "...": None} | ({"near_duplicate": twice} if twice else {})


def _role(folder: Folder, place: Found) -> str:
    config, split, id, pid = place
    row = next(row for row in folder.rows(str(config), str(split)) if row["id"] == id)
    return next(passage["role"] for passage in row["passages"] if passage["pid"] == pid)


@plant
def two_near_duplicates(folder: Folder) -> Expected:
    """Two passages of a context that are not gold say the same."""
    row, pid = _other(folder)
    model = next(p for p in row["passages"] if p["role"] != "gold" and p["pid"] != pid)
    folder.change_passage(pid, lambda passage: passage.update(text=model["text"].upper()))
    return {"near_duplicate": {(CONFIG, "test", row["id"], ANY)}, "...": None}


@plant
def half_of_gold_in_random(folder: Folder) -> Expected:
    row, pid = _other(folder, task="fever")
    words = gold_of(row)["text"].split()

    def change(passage: Row) -> None:
        own = passage["text"].split()
        passage["text"] = " ".join(words[: int(0.8 * len(words))] + own[: int(0.2 * len(own))])

    found = folder.change_passage(pid, change)
    places = {place for place in _of(found, row["id"]) if _role(folder, place) == "random"}
    return {"near_gold": places}


@plant
def query_in_random(folder: Folder) -> Expected:
    row, pid = _other(folder)
    query = "who keeps the seventh key of the tower"

    def change(config: str, other: Row) -> None:
        if other["id"] == row["id"]:
            other["query"] = query + "?"
            recount(other)

    folder.change_all(change)
    return {"query_in_passage": _of(folder.change_passage(pid, _embed(query.capitalize() + ".")), row["id"])}


@plant
def answer_in_query(folder: Folder) -> Expected:
    found: set[Found] = set()
    target = _first(folder)["id"]

    def change(config: str, row: Row) -> None:
        if row["id"] == target:
            row["query"] = f"{row['answers'][0]}?"
            recount(row)
            found.add((config, "test", target, None))

    folder.change_all(change)
    return {"answer_in_query": found}


@plant
def gold_without_answer(folder: Folder) -> Expected:
    found: set[Found] = set()
    target = _first(folder)["id"]

    def change(config: str, row: Row) -> None:
        if row["id"] == target:
            row["answers"] = ["nowhere to be found"]
            found.add((config, "test", target, None))

    folder.change_all(change)
    return {"answer_in_gold": found}


# --- what gives gold away


@plant
def marker_in_gold(folder: Folder) -> Expected:
    """case 46: the source's marker is left in gold, and cleaned elsewhere."""
    found: set[Found] = set()

    def change(config: str, row: Row) -> None:
        for passage in row["passages"]:
            if passage["pid"] in golds:
                passage["text"] = "BULLET::::- " + " ".join(passage["text"].split()[6:])
                found.add((config, "test", row["id"], passage["pid"]))
        recount(row)

    rows = folder.rows(CONFIG, "test")
    golds = {row["passages"][at]["pid"] for row in rows for at in row["gold"]}
    folder.change_all(change)
    return {"markers": found, "artefact": None, "...": None}


@plant
def space_in_gold(folder: Folder) -> Expected:
    """A mark that no rule names: gold ends in a space."""
    golds = {
        row["passages"][at]["pid"]
        for split in ("train", "validation", "test")
        for row in folder.rows(CONFIG, split)
        for at in row["gold"]
    }

    def change(config: str, row: Row) -> None:
        for passage in row["passages"]:
            if passage["pid"] in golds:
                passage["text"] += " "
        recount(row)

    folder.change_all(change, ("train", "validation", "test"))
    return {"artefact": None, "...": None}


@plant
def gold_first(folder: Folder) -> Expected:
    """case 68: gold always stands first."""

    def change(config: str, row: Row) -> None:
        gold = [row["passages"][at] for at in row["gold"]]
        row["passages"] = gold + [passage for passage in row["passages"] if passage not in gold]
        row["gold"] = list(range(len(gold)))

    folder.change_all(change)
    configs = [config for config in folder.configs if config != "loft_2k"]
    return {"gold_position": {(config, "test", None, None) for config in configs}, "artefact": None, "...": None}


@plant
def one_retriever_alone(folder: Folder) -> Expected:
    def change(config: str, row: Row) -> None:
        for passage in row["passages"]:
            if passage["role"] == "confounder":
                passage["retrievers"] = ["one"]

    folder.change_all(change)
    configs = [config for config in folder.configs if config.endswith(("50", "100"))]
    return {"retriever_shares": {(config, "test", name, None) for config in configs for name in ("one", "two")}}


@plant
def mojibake(folder: Folder) -> Expected:
    """UTF-8 read as Latin-1."""
    _, pid = _other(folder)
    return {"encoding": set(folder.change_passage(pid, _embed("Caf\u00c3\u00a9 Zola")))}


@plant
def markup_left(folder: Folder) -> Expected:
    """case 57: an entity that was never decoded."""
    _, pid = _other(folder)
    return {"encoding": set(folder.change_passage(pid, _embed("Stone &amp; Sons<br/> of the river")))}
