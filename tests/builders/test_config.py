from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from builders.config import Recipe, digest_of, public_sources, tokens_of
from builders.errors import SetupError
from builders.load_recipe import RECIPES, load_recipe, recipe_of
from builders.sources import PAGE_READERS, QUESTION_READERS
from builders.tasks import TaskSpec

DEMO = yaml.safe_load((RECIPES / "demo.yaml").read_text(encoding="utf-8"))


def recipe(tmp_path: Path, **changes: object) -> Recipe:
    path = tmp_path / "r.yaml"
    path.write_text(yaml.safe_dump({**DEMO, **changes}), encoding="utf-8")
    return load_recipe(str(path), [])[0]


@pytest.mark.parametrize(
    ("length", "tokens"),
    [("1k", 1024), ("32k", 32768), ("128k", 131072), ("1m", 1048576), ("24k", 24576), ("700", 700)],
)
def test_lengths_are_powers_of_two(length: str, tokens: int) -> None:
    """128k is 131,072."""
    assert tokens_of(length) == tokens


@pytest.mark.parametrize("length", ["", "0k", "-4k", "4K", "1.5k", "k", "32kb", "１k"])
def test_a_length_that_is_none(length: str) -> None:
    with pytest.raises(SetupError, match="use a number of tokens"):
        tokens_of(length)


@pytest.mark.parametrize("name", public_sources())
def test_a_public_source_may_be_named(tmp_path: Path, name: str) -> None:
    if name.endswith("knowledge"):
        source = recipe(tmp_path, knowledge=name).knowledge
        assert source.reader in PAGE_READERS
    else:
        task = {"files": {"dev": name}, "take": {"test": {"source": "dev", "n": 1}}}
        source = recipe(tmp_path, tasks={"t": task}).tasks["t"].files["dev"]
        assert source.reader in QUESTION_READERS
    assert source.path and source.path.startswith("http") and source.rows


def test_a_setting_changes_a_named_source_for_one_recipe() -> None:
    loaded = load_recipe("kilt", ["knowledge.path=here.jsonl", "tasks.nq.files.dev.rows=3"])[0]
    assert (loaded.knowledge.path, loaded.knowledge.rows) == ("here.jsonl", 5903530)
    assert loaded.tasks["nq"].files["dev"].rows == 3
    untouched = load_recipe("kilt", [])[0]
    assert untouched.knowledge.path.startswith("http") and untouched.tasks["nq"].files["dev"].rows == 2837


def test_an_unknown_source_names_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="knowledge: unknown source 'kilt'; there are kilt_knowledge, "):
        recipe(tmp_path, knowledge="kilt")


@pytest.mark.parametrize("name", sorted(path.stem for path in RECIPES.glob("*.yaml")))
def test_bundled_recipes_are_valid(name: str) -> None:
    values = yaml.safe_load((RECIPES / f"{name}.yaml").read_text(encoding="utf-8"))
    loaded = recipe_of(values)  # that of LOFT takes its configs from the user's folder, which is not there
    assert loaded.configs or name == "loft"
    assert loaded.base(RECIPES) == RECIPES


def test_the_demo_has_22_configs() -> None:
    configs = list(load_recipe("demo", [])[0].configs)
    assert len(configs) == 22
    assert configs[:5] == ["1k_p0", "1k_p25", "1k_p50", "1k_p75", "1k_p100"]
    assert configs[-2:] == ["loft_4k", "loft_32k"]


def test_the_full_recipe_is_the_papers() -> None:
    full = load_recipe("kilt", [])[0]
    train = {name: task.take["train"].n for name, task in full.tasks.items()}
    assert train == {"nq": 7500, "hotpotqa": 7500, "fever": 5000, "wow": 5000}
    assert [spec.kind for spec in full.retrievers.values()] == ["bm25", "dense", "dense", "tfidf", "entity"]
    for spec in full.retrievers.values():
        assert spec.k >= (20 if spec.kind in ("tfidf", "entity") else 200)


def test_budget_leaves_room_for_the_output(tmp_path: Path) -> None:
    """Output and template are in the budget."""
    r = recipe(tmp_path)
    assert (r.budget("1k"), r.budget("4k"), r.budget("8k"), r.budget("32k")) == (768, 3840, 7168, 31744)
    assert recipe(tmp_path, reserve=276).budget("4k") == 3820


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"retriever": {}}, "unknown key retriever; did you mean retrievers?"),
        ({"chunk_word": 100}, "unknown key chunk_word; did you mean chunk_words?"),
        ({"lengths": ["5x"]}, "use a number of tokens"),
        ({"lengths": ["100"]}, "use 512 to 16m"),
        ({"ratios": [101]}, "ratios.0: Input should be less than or equal to 100"),
        ({"ratios": ["half"]}, "ratios.0: Input should be a valid integer"),
        ({"version": "1.0"}, "version: String should match pattern"),
        ({"name": "../x"}, "invalid name"),
        ({"retrievers": {}}, "a ratio above 0 needs at least one"),
        ({"lengths": [], "loft": []}, "give at least one length"),
        ({"limit": 0}, "limit: Input should be greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, changes: dict, message: str) -> None:
    with pytest.raises(SetupError) as error:
        recipe(tmp_path, **changes)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_settings_are_laid_over() -> None:
    loaded, _ = load_recipe("demo", ["lengths=[2k]", "retrievers.bm25.k=7", "loft=[]"])
    assert loaded.lengths == ["2k"]
    assert loaded.retrievers["bm25"].k == 7
    with pytest.raises(SetupError, match="key=value"):
        load_recipe("demo", ["lengths"])
    with pytest.raises(SetupError, match=r"unknown key retrievers\.bm25\.kk"):
        load_recipe("demo", ["retrievers.bm25.kk=7"])


def test_a_recipe_that_is_not_there() -> None:
    with pytest.raises(SetupError, match=r"demo, .*kilt, kilt_mini"):
        load_recipe("dmeo", [])


def test_broken_yaml(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("a: [1,\nb: }")
    with pytest.raises(SetupError, match="is not YAML"):
        load_recipe(str(tmp_path / "r.yaml"), [])


def test_version_stays_text(tmp_path: Path) -> None:
    """1.10.0 is not 1.1."""
    assert recipe(tmp_path, version="1.10.0").version == "1.10.0"


def test_folders_of_this_machine_are_no_part_of_a_recipe(tmp_path: Path) -> None:
    here = recipe(tmp_path, data="/somewhere/here").portable()
    assert here == recipe(tmp_path).portable()
    assert "/" not in str(here["tasks"]["nq"]["files"]["demo"]["path"])


@given(st.text(alphabet="abc019_./-", max_size=8))
def test_no_name_leaves_its_folder(name: str) -> None:
    """Names become paths and Hub configs."""
    try:
        loaded = Recipe.model_validate({**DEMO, "tasks": {name: DEMO["tasks"]["nq"]}})
    except ValueError:
        return
    assert set(next(iter(loaded.tasks))) <= set("abcdefghijklmnopqrstuvwxyz0123456789_")


def asked_as(tmp_path: Path, **task: Any) -> TaskSpec:
    files = {"dev": {"reader": "kilt", "path": "x.jsonl"}}
    return recipe(tmp_path, tasks={"climate_fever": {"files": files, "take": {}, **task}}).spec("climate_fever")


def test_a_task_says_its_kind(tmp_path: Path) -> None:
    labels = {"SUPPORTS": "TRUE", "REFUTES": "FALSE"}
    assert asked_as(tmp_path, kind="qa") == TaskSpec("climate_fever", "qa", {}, "qa", "climate_fever")
    assert asked_as(tmp_path, kind="set", scorer="all_needles", source="QUEST") == TaskSpec(
        "climate_fever", "set", {}, "all_needles", "QUEST"
    )
    assert asked_as(tmp_path, kind="fact", labels=labels).labels == labels
    assert asked_as(tmp_path, kind="fact", labels=["YES IT IS", "NO"]).labels == {"YES IT IS": "YES IT IS", "NO": "NO"}


def test_a_public_source_brings_its_kind_and_labels() -> None:
    tasks = load_recipe("kilt", [])[0].spec
    assert [tasks(name).kind for name in ("nq", "hotpotqa", "fever", "wow")] == ["qa", "qa", "fact", "dialogue"]
    assert tasks("fever").labels == {"SUPPORTS": "TRUE", "REFUTES": "FALSE"}


def test_what_the_task_says_goes_before_its_source(tmp_path: Path) -> None:
    words = {"SUPPORTS": "yes", "REFUTES": "no"}
    named = {"dev": "kilt_fever_dev"}
    assert asked_as(tmp_path, files=named, labels=words).labels == words
    assert asked_as(tmp_path, files=named, kind="qa") == TaskSpec("climate_fever", "qa", {}, "qa", "climate_fever")
    assert asked_as(tmp_path, files=named, kind="fact").labels == {"SUPPORTS": "TRUE", "REFUTES": "FALSE"}


def test_a_setting_of_one_file_keeps_the_kind_of_the_other() -> None:
    settings = ["tasks.fever.files.dev.path=x.jsonl", "tasks.fever.files.dev.rows=null"]
    assert load_recipe("kilt", settings)[0].spec("fever").kind == "fact"


OWN = {"reader": "kilt", "path": "x.jsonl"}


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (
            {},
            "tasks.climate_fever: no kind; choose one: qa (a question, answered by any one of its answers), ",
        ),
        ({"kind": "claim"}, "tasks.climate_fever.kind: Input should be 'qa', 'fact', 'dialogue', 'set' or 'needle'"),
        ({"kind": "fact"}, "tasks.climate_fever: the kind fact needs the labels of the claims"),
        ({"kind": "fact", "labels": ["SUPPORTS"]}, "the kind fact needs the labels of the claims"),
        ({"kind": "qa", "labels": ["A", "B"]}, "the kind qa has no labels; leave them out, or write kind: fact"),
        ({"labels": ["A", "B"]}, "no kind"),
        ({"kind": "fact", "labels": ["A", "a "]}, "labels, and their words, must differ and not be empty"),
        ({"kind": "fact", "labels": ["A", " "]}, "labels, and their words, must differ and not be empty"),
        ({"kind": "fact", "labels": {"A": "x", "B": "X"}}, "labels, and their words, must differ and not be empty"),
        ({"kind": "fact", "labels": [True, False]}, "labels: True is not text; write it in quotes"),
        ({"kind": "fact", "labels": {"A": True, "B": False}}, "labels: True is not text; write it in quotes"),
        ({"kind": "fact", "labels": "A, B"}, "labels: Input should be a valid dictionary"),
        ({"files": {"a": "kilt_fever_dev", "b": "kilt_nq_dev"}}, "its files differ in kind or labels"),
        ({"files": {"a": {**OWN, "kind": "fact"}}}, "files.a: the kind fact needs the labels of the claims"),
        ({"files": {"a": {**OWN, "labels": ["A", "B"]}}}, "files.a: labels without a kind; add kind: fact"),
        ({"kind": "qa", "scorer": "../x"}, "tasks.climate_fever.scorer: invalid name '../x'"),
        (
            {"kind": "qa", "scorer": "exact"},
            "tasks.climate_fever.scorer: no scorer 'exact'; available: qa, label, dialogue, set, needle, all_needles",
        ),
        ({"kind": "qa", "take": {"test": {"source": "dev2", "n": 1}}}, "take names ['dev2']; its files are ['dev']"),
    ],
)
def test_a_task_without_its_kind_or_labels_is_refused(tmp_path: Path, task: dict, message: str) -> None:
    with pytest.raises(SetupError) as error:
        asked_as(tmp_path, **task)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_source_of_questions_is_none_of_pages(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="knowledge: kilt_nq_dev has questions; name a source of pages"):
        recipe(tmp_path, knowledge="kilt_nq_dev")


def test_the_order_of_labels_and_tasks_is_a_part_of_the_digest(tmp_path: Path) -> None:
    """Prompts list labels in their order, and rows follow the order of tasks."""
    tasks = recipe(tmp_path).portable()["tasks"]
    turned = dict(reversed(tasks["fever"]["labels"].items()))
    other = {**tasks, "fever": {**tasks["fever"], "labels": turned}}
    assert other == tasks
    assert len({digest_of(found) for found in (tasks, other, dict(reversed(tasks.items())))}) == 3
