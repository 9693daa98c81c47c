"""The finished runs that stand in for the demo's retrievers are what those retrievers find."""

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from builders.bundled import bundled_file
from builders.config import Recipe
from builders.corpus import Corpus
from builders.load_recipe import load_recipe
from builders.retrieve import RETRIEVERS
from builders.retrieve.base import Context, Query, run_table
from builders.schema import Page
from builders.sources import PAGE_READERS
from tests import demo_runs
from tests.builders.small_corpus import small_corpus

pytestmark = pytest.mark.slow
ROUNDING = 0.001  # of single precision on another machine

Run = dict[str, dict[str, float]]  # scores by passage, by question


@pytest.fixture(scope="module")
def recipe() -> Recipe:
    found, _ = load_recipe("demo", [])
    assert isinstance(found, Recipe)
    return found


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    return list(PAGE_READERS["intros"](bundled_file("intros"), Counter()))


@pytest.fixture(scope="module")
def queries(demo: Path) -> list[Query]:
    """Each question with its first answer where that is text: labels and yes/no are not looked for."""
    asked = {}
    for path in sorted((demo / "1k_p0").glob("*.parquet")):
        for row in pq.read_table(path, columns=["question_id", "query", "answers", "answer_kind"]).to_pylist():
            answer = row["answers"][:1] if row["answer_kind"] == "text" else []
            asked[row["question_id"]] = Query(row["question_id"], " ".join([row["query"], *answer]).strip())
    return list(asked.values())


def recorded(name: str) -> Run:
    run: Run = {}
    for row in pq.read_table(demo_runs.FOLDER / f"{name}.parquet").to_pylist():
        run.setdefault(row["qid"], {})[row["pid"]] = row["score"]
    return run


def found(recipe: Recipe, name: str, corpus: Corpus, asked: list[Query], folder: Path) -> Run:
    """What a retriever of the recipe finds in a corpus."""
    spec = recipe.retrievers[name]
    retriever, context = RETRIEVERS[spec.kind](), Context(spec, corpus, folder / "cache", 1, lambda done, total: None)
    (folder / name).mkdir()
    retriever.index(context, folder / name)
    table = run_table(
        corpus, asked, retriever.search(context, folder / name, asked), spec.k if retriever.level == "passage" else None
    )
    run: Run = {}
    for row in table.to_pylist():
        run.setdefault(row["qid"], {})[row["pid"]] = row["score"]
    return run


def test_every_retriever_of_the_recipe_has_a_run(recipe: Recipe, queries: list[Query]) -> None:
    assert {path.stem for path in demo_runs.FOLDER.glob("*.parquet")} == set(recipe.retrievers)
    known = {query.qid for query in queries}
    assert len(known) == 160
    assert all(set(recorded(name)) <= known for name in recipe.retrievers)


def test_lexical_runs_are_equal(recipe: Recipe, pages: list[Page], queries: list[Query], tmp_path: Path) -> None:
    corpus = small_corpus(tmp_path, pages)
    for name in ("bm25", "tfidf"):
        assert found(recipe, name, corpus, queries, tmp_path) == recorded(name), name


@pytest.mark.parametrize(("name", "asked"), [("minilm", 2), ("entity", 4)])
def test_neural_runs_are_equal_but_for_rounding(
    name: str, asked: int, recipe: Recipe, pages: list[Page], queries: list[Query], tmp_path: Path
) -> None:
    """A few queries over the pages of their runs, those they name and some others: the run's hits come first."""
    run = recorded(name)
    some = [query for query in queries[:: len(queries) // asked] if query.qid in run]
    wanted = {pid.split(":")[0] for query in some for pid in run[query.qid]}
    named = [page.page_id for page in pages if any(page.title.lower() in query.text.lower() for query in some)]
    kept = {*wanted, *named, *(page.page_id for page in pages[::100])}
    corpus = small_corpus(tmp_path, [page for page in pages if page.page_id in kept])
    got = found(recipe, name, corpus, some, tmp_path)
    assert len(some) > 1 and got.keys() == {query.qid for query in some}
    for query in some:
        want, border = run[query.qid], min(run[query.qid].values())
        sure = {pid for pid, score in want.items() if score > border + ROUNDING}
        assert sure <= got[query.qid].keys()
        assert {pid for pid, score in got[query.qid].items() if score > border + ROUNDING} <= want.keys()
        assert all(abs(want[pid] - got[query.qid][pid]) < ROUNDING for pid in sure)
