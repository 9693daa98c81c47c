"""Contexts that are too short."""

from tests.planted.folder import Folder, Row, non_gold, recount
from tests.planted.plants.base import Expected, plant

SHORT = "1k_p0"


@plant
def one_ratio_is_half_as_long(folder: Folder) -> Expected:
    """Every row says so itself, which is no fault of the row."""
    rows = folder.rows(SHORT, "test")
    for row in rows:
        _shorten(row)
    folder.write(SHORT, "test", rows)
    return {"length_met": {(SHORT, "test", None, None)}, "equal_tokens": {(SHORT, "test", None, None)}}


@plant
def more_passages_than_the_config_may_have(folder: Folder) -> Expected:
    """By one, in the rows that have most."""
    rows = [(split, row) for split in folder.files(SHORT) for row in folder.rows(SHORT, split)]
    most = max(len(row["passages"]) for _, row in rows)
    folder.manifest["configs"][SHORT]["passages"] = most - 1
    folder.save_manifest()
    return {"budget": {(SHORT, split, row["id"], None) for split, row in rows if len(row["passages"]) == most}}


def _shorten(row: Row) -> None:
    """Leaves gold and one other passage."""
    kept = [at for at in range(len(row["passages"])) if at in row["gold"] or at == non_gold(row)]
    row["passages"] = [row["passages"][at] for at in kept]
    row["gold"] = [kept.index(at) for at in row["gold"]]
    row["flags"] = sorted({*row["flags"], "short_pool", "underfull"})
    recount(row)
