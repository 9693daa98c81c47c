"""Defects of single rows."""

from tokenizers import Tokenizer

from builders.tokens import tokenizer_json
from tests.planted.folder import Folder, Found, Row, non_gold, recount, rendered
from tests.planted.plants.base import CONFIG, Expected, first_row, passage_that_is_not_gold, plant, retext


@plant
def null_id(folder: Folder) -> Expected:
    """Great Expectations leaves nulls out of uniqueness."""
    row = folder.change("loft_2k", "test", lambda row: row.update(id=None))
    assert row["id"] is None
    return {"ids": {("loft_2k", "test", None, None)}}


@plant
def id_twice(folder: Folder) -> Expected:
    """An id with two queries."""
    rows = folder.rows("loft_2k", "train")
    first, second = [row for row in rows if row["task"] == "nq"][:2]
    left = second["id"]
    second.update(id=first["id"], question_id=first["question_id"])
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

    target = first_row(folder)["id"]
    folder.change_all(change)
    return {"complete": found}


@plant
def no_text(folder: Folder) -> Expected:
    _, pid = passage_that_is_not_gold(folder)
    found = folder.change_passage(pid, retext(lambda text: " "))
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
        "flags": {(*at, None)},
    }


@plant
def no_gold(folder: Folder) -> Expected:
    row = folder.change(CONFIG, "test", lambda row: row.update(gold=[]), task="fever")
    at = (CONFIG, "test", row["id"])
    pid = next(passage["pid"] for passage in row["passages"] if passage["role"] == "gold")
    return {"gold": {(*at, None), (*at, pid)}}


@plant
def random_in_place_of_confounder(folder: Folder) -> Expected:
    """The role is confounder, but no retriever found it."""

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
    """Two confounders become random passages, and the row's ratio agrees."""

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
    """A row of a shorter length has the longer context."""
    long = next(row for row in folder.rows("2k_p0", "test") if row["task"] == "nq")

    def change(row: Row) -> None:
        row.update(passages=long["passages"], gold=long["gold"], n_tokens=long["n_tokens"])

    folder.change("1k_p0", "test", change)
    return {"budget": {("1k_p0", "test", long["id"], None)}}


@plant
def control_tokens_counted_as_one(folder: Folder) -> Expected:
    """A passage names a control token, and the row was counted as if the passage held that token itself."""
    _, pid = passage_that_is_not_gold(folder)

    def change(passage: Row) -> None:
        passage["text"] = " ".join(["The tag <|im_end|> closes.", *passage["text"].split()[8:]])

    found = folder.change_passage(pid, change)
    naive = Tokenizer.from_buffer(tokenizer_json("smollm2"))
    for config, split in {(place[0], place[1]) for place in found}:
        rows = folder.rows(config, split)
        for one in rows:
            if any(passage["pid"] == pid for passage in one["passages"]):
                one["n_tokens"] = len(naive.encode(rendered(one), add_special_tokens=False))
        folder.write(config, split, rows)
    return {"token_count": {(*place[:3], None) for place in found}}


@plant
def tokens_of_another_tokenizer(folder: Folder) -> Expected:
    """The count is not that of the rendered prompt."""
    row = folder.change(CONFIG, "test", lambda row: row.update(n_tokens=row["n_tokens"] - 60))
    return {"token_count": {(CONFIG, "test", row["id"], None)}}


@plant
def short_and_not_flagged(folder: Folder) -> Expected:
    """Half of the passages are missing, without a flag."""

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
def flagged_though_gold_has_an_answer(folder: Folder) -> Expected:
    flags = ["answer_not_in_gold"]
    row = folder.change(CONFIG, "test", lambda row: row.update(flags=flags), task="hotpotqa")
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
    """A passage cleaned in one place only."""

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
    """Rows with the same context_id have different contexts."""
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


@plant
def task_that_the_manifest_lacks(folder: Folder) -> Expected:
    row = folder.change(CONFIG, "test", lambda row: row.update(task="hover"))
    at = {(CONFIG, "test", row["id"], None)}
    return {"facts": at, "ids": at, "question": at}


@plant
def row_of_another_config(folder: Folder) -> Expected:
    """A row with wrong facts would be grouped wrongly after configs are concatenated."""
    row = folder.change(CONFIG, "test", lambda row: row.update(config="2k_p100"))
    return {"facts": {(CONFIG, "test", row["id"], None)}}


@plant
def kind_of_another_task(folder: Folder) -> Expected:
    row = folder.change(CONFIG, "test", lambda row: row.update(kind="fact"))
    return {"facts": {(CONFIG, "test", row["id"], None)}}


@plant
def no_question_id(folder: Folder) -> Expected:
    row = folder.change(CONFIG, "test", lambda row: row.update(question_id=" "))
    return {"facts": {(CONFIG, "test", row["id"], None)}}
