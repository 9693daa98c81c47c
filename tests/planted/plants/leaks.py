"""Answers, evidence and queries in the wrong passages."""

from tests.planted.folder import Folder, Found, Row, gold_of, recount
from tests.planted.plants.base import ANY, CONFIG, Expected, embed, first_row, of_row, passage_that_is_not_gold, plant


@plant
def answer_in_confounder(folder: Folder) -> Expected:
    row, pid = passage_that_is_not_gold(folder, "confounder")
    found = folder.change_passage(pid, embed(f"The sign is {row['answers'][0].upper()}."))
    return {"answer_in_context": of_row(found, row["id"])}


@plant
def answer_in_random_title(folder: Folder) -> Expected:
    row, pid = passage_that_is_not_gold(folder)

    def change(passage: Row) -> None:
        passage["title"] = f"Place of {row['answers'][0]}"
        passage["text"] = " ".join(passage["text"].split()[12:])

    return {"answer_in_context": of_row(folder.change_passage(pid, change), row["id"])}


@plant
def alias_in_random(folder: Folder) -> Expected:
    """The second answer of a question leaks, not the first."""
    row, pid = passage_that_is_not_gold(folder)

    def alias(config: str, other: Row) -> None:
        if other["id"] == row["id"]:
            other["answers"] = [*other["answers"], "Quern of Lodd"]

    folder.change_all(alias)
    return {"answer_in_context": of_row(folder.change_passage(pid, embed("It is the quern of the Lodd!")), row["id"])}


@plant
def answer_that_is_an_article(folder: Folder) -> Expected:
    """The answer A, which normalising would lose."""
    row, pid = passage_that_is_not_gold(folder)

    def answer(config: str, other: Row) -> None:
        if other["id"] == row["id"]:
            other["answers"] = ["A"]

    folder.change_all(answer)
    found = folder.change_passage(pid, embed("It is a field."))
    unseen = {(config, split, id, None) for config, split, id, _ in of_row(found, row["id"])}
    everywhere = {(config, "test", row["id"], None) for config in folder.configs}
    assert unseen <= everywhere
    return {"answer_in_context": of_row(found, row["id"]), "answer_in_gold": everywhere, "flags": everywhere}


@plant
def answer_excused(folder: Folder) -> Expected:
    """A flag excuses a row whose answer is text."""
    found: set[Found] = set()
    target = first_row(folder)["id"]

    def change(config: str, row: Row) -> None:
        if row["id"] == target:
            row["flags"] = [*row["flags"], "answer_filter_not_applicable"]
            found.add((config, "test", target, None))

    folder.change_all(change)
    return {"waiver": found}


@plant
def text_as_yes_or_no(folder: Folder) -> Expected:
    """A row with a text answer declares yes or no, with the matching flag."""
    found: set[Found] = set()
    target = first_row(folder)["id"]

    def change(config: str, row: Row) -> None:
        if row["id"] == target:
            row.update(answer_kind="yesno", flags=[*row["flags"], "answer_filter_not_applicable"])
            found.add((config, "test", target, None))

    folder.change_all(change)
    return {"waiver": found}


@plant
def part_of_a_label(folder: Folder) -> Expected:
    """Labels are compared whole: an answer that begins with one is none."""
    found: set[Found] = set()
    target = first_row(folder, task="fever")["id"]

    def change(config: str, row: Row) -> None:
        if row["id"] == target:
            row["answers"] = [f"{row['answers'][0]} PARTLY"]
            found.add((config, "test", target, None))

    folder.change_all(change)
    return {"waiver": found}


@plant
def answer_without_accents(folder: Folder) -> Expected:
    """A passage contains the answer with ss for ß and without its accents."""
    return _notation(folder, "Großer Zürpilén", "Grosser Zurpilen")


@plant
def answer_with_spaces_in_a_number(folder: Folder) -> Expected:
    return _notation(folder, "1234567", "1 234 567")


@plant
def answer_with_separators(folder: Folder) -> Expected:
    """Numbers are compared by value."""
    return _leak(folder, "1234567", "1,234,567.0")


@plant
def answer_in_capitals_of_several_letters(folder: Folder) -> Expected:
    """Case is folded fully: ß is SS in capitals."""
    return _leak(folder, "Großer Zürpilén", "GROSSER ZÜRPILÉN")


@plant
def answer_with_a_mark(folder: Folder) -> Expected:
    """The mark is part of the answer; the same word without it is none."""
    return _leak(folder, "Zürp++", "zürp++20")


@plant
def answer_date_otherwise(folder: Folder) -> Expected:
    return _notation(folder, "March 5, 1871", "on the 5th of March 1871")


def _notation(folder: Folder, answer: str, written: str) -> Expected:
    return {"other_notation": _written(folder, answer, written)}


def _leak(folder: Folder, answer: str, written: str) -> Expected:
    return {"answer_in_context": _written(folder, answer, written)}


def _written(folder: Folder, answer: str, written: str) -> set[Found]:
    row, pid = passage_that_is_not_gold(folder)
    found = folder.change_passage(pid, embed(f"Here {written} stands."))
    gold = gold_of(row)["pid"]

    def change(config: str, other: Row) -> None:
        if other["id"] == row["id"]:
            other["answers"] = [*other["answers"], answer]

    folder.change_all(change)
    assert gold != pid
    return of_row(found, row["id"])


@plant
def sibling_holds_answer(folder: Folder) -> Expected:
    row, pid = passage_that_is_not_gold(folder)
    sibling = gold_of(row)["pid"].split(":")[0] + ":9"

    def change(passage: Row) -> None:
        embed(f"Its sign is {row['answers'][0]}.")(passage)
        passage["pid"] = sibling

    found = {
        (config, split, id, sibling) for config, split, id, _ in of_row(folder.change_passage(pid, change), row["id"])
    }
    return {"answer_in_context": found, "sibling_answer": found}


@plant
def gold_among_random(folder: Folder) -> Expected:
    """Gold again, with other spaces and stops, under another pid."""
    row, pid = passage_that_is_not_gold(folder, task="fever")
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
    """Two non-gold passages of a context have the same content."""
    row, pid = passage_that_is_not_gold(folder)
    model = next(p for p in row["passages"] if p["role"] != "gold" and p["pid"] != pid)
    folder.change_passage(pid, lambda passage: passage.update(text=model["text"].upper()))
    return {"near_duplicate": {(CONFIG, "test", row["id"], ANY)}, "...": None}


@plant
def half_of_gold_in_random(folder: Folder) -> Expected:
    row, pid = passage_that_is_not_gold(folder, task="fever")
    words = gold_of(row)["text"].split()

    def change(passage: Row) -> None:
        own = passage["text"].split()
        passage["text"] = " ".join(words[: int(0.8 * len(words))] + own[: int(0.2 * len(own))])

    found = folder.change_passage(pid, change)
    places = {place for place in of_row(found, row["id"]) if _role(folder, place) == "random"}
    return {"near_gold": places}


@plant
def query_in_random(folder: Folder) -> Expected:
    row, pid = passage_that_is_not_gold(folder)
    query = "who keeps the seventh key of the tower"

    def change(config: str, other: Row) -> None:
        if other["id"] == row["id"]:
            other["query"] = query + "?"
            recount(other)

    folder.change_all(change)
    return {"query_in_passage": of_row(folder.change_passage(pid, embed(query.capitalize() + ".")), row["id"])}


@plant
def answer_in_query(folder: Folder) -> Expected:
    found: set[Found] = set()
    target = first_row(folder)["id"]

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
    target = first_row(folder)["id"]

    def change(config: str, row: Row) -> None:
        if row["id"] == target:
            row["answers"] = ["nowhere to be found"]
            found.add((config, "test", target, None))

    folder.change_all(change)
    return {"answer_in_gold": found, "flags": found}


@plant
def labels_as_answers_of_a_question(folder: Folder) -> Expected:
    """Claims with labels, in a task of an extractive kind."""

    def change(config: str, row: Row) -> None:
        if row["task"] == "nq":
            row["answers"] = [("SUPPORTED", "NOT_SUPPORTED")[len(row["id"]) % 2]]

    folder.change_all(change)
    rows = [(config, row["id"]) for config in folder.configs for row in folder.rows(config, "test")]
    lacking: set[Found] = {(config, "test", id, None) for config, id in rows if id.startswith("nq-")}
    return {
        "answers_of_task": {(config, "test", "nq", None) for config in folder.configs},
        "answer_in_gold": lacking,
        "flags": lacking,
    }
