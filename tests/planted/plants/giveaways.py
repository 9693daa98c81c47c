"""Cues that reveal gold, and anomalies of texts or retrievers."""

from tests.planted.folder import Folder, Found, Row, recount
from tests.planted.plants.base import CONFIG, Expected, embed, passage_that_is_not_gold, plant


@plant
def marker_in_gold(folder: Folder) -> Expected:
    """The source's layout marker is left in gold and cleaned elsewhere."""
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
    """A formatting cue without its own rule: gold ends with a space."""
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
    """Gold always comes first."""

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
    _, pid = passage_that_is_not_gold(folder)
    return {"encoding": set(folder.change_passage(pid, embed("Caf\u00c3\u00a9 Zola")))}


@plant
def markup_left(folder: Folder) -> Expected:
    """An entity that was never decoded."""
    _, pid = passage_that_is_not_gold(folder)
    return {"encoding": set(folder.change_passage(pid, embed("Stone &amp; Sons<br/> of the river")))}
