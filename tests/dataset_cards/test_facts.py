"""The facts of the card, one by one."""

import pytest

from builders.format1 import config_facts
from builders.manifest import Config
from builders.schema import INSTANCES
from dataset_cards import facts
from dataset_cards.card import cut, size
from dataset_cards.columns import COLUMNS, MEMBERS
from dataset_cards.head import size_category
from dataset_cards.licences import hub_licence, licence_url
from dataset_cards.order import in_order


def test_what_the_recipe_lacks_of_the_paper_is_said() -> None:
    kinds = {"b": ("bm25", None), "d": ("dense", "facebook/dpr-ctx"), "m": ("dense", "bundled:minilm")}
    specs = {name: {"kind": kind, "model": model} for name, (kind, model) in kinds.items()}
    assert facts.absent_retrievers({"retrievers": specs, "runs": None}) == ["Contriever", "DrQA", "BLINK"]
    assert facts.absent_retrievers({"retrievers": specs, "runs": "runs"}) == []


def test_means_by_role() -> None:
    roles = {"gold": 0.2, "confounder": 0.5, "random": 0.3}
    group = {"roles": roles, "passages": {"mean": 6.25}, "gold": {"mean": 1.25}}
    assert facts.role_means(group) == "1.25 / 3.1 / 1.9"  # 3.125 and 1.875


def test_dropped_candidates_are_counted_by_reason() -> None:
    counts = {"retrieved_kept": 5, "random_kept": 7, "retrieved_gold_overlap": 2, "answer_filter_not_applicable": 1}
    assert facts.filtered({"filter": counts}) == [
        {"reason": "kept", "retrieved": 5, "random": 7},
        {"reason": "gold_overlap", "retrieved": 2, "random": 0},
    ]


def test_every_column_is_described() -> None:
    passage = INSTANCES.field("passages").type.value_type
    assert (list(COLUMNS), list(MEMBERS)) == (INSTANCES.names, [member.name for member in passage])


@pytest.mark.parametrize(
    ("rows", "category"),
    [
        (0, "n<1K"),
        (999, "n<1K"),
        (1000, "1K<n<10K"),
        (24_000, "10K<n<100K"),
        (999_999_999, "100M<n<1B"),
        (10**12, "n>1T"),
    ],
)
def test_size_category(rows: int, category: str) -> None:
    assert size_category(rows) == category


@pytest.mark.parametrize(
    ("licences", "fields"),
    [
        (["CC-BY-SA-4.0", "cc-by-sa-4.0"], {"license": "cc-by-sa-4.0"}),
        (["cc-by-sa-4.0", "cc-by-sa-3.0", None], {"license": ["cc-by-sa-3.0", "cc-by-sa-4.0", "unknown"]}),
        (["My Own, v2"], {"license": "other", "license_name": "my-own-v2"}),
        ([], {"license": "unknown"}),
    ],
)
def test_licences_are_the_hubs(licences: list, fields: dict) -> None:
    assert hub_licence(licences) == fields


def test_licence_addresses() -> None:
    assert licence_url("CC-BY-SA-3.0") == "https://creativecommons.org/licenses/by-sa/3.0/"
    assert licence_url("cc-by-nc-nd-4.0") == "https://creativecommons.org/licenses/by-nc-nd/4.0/"
    assert licence_url("cc0-1.0") == "https://creativecommons.org/publicdomain/zero/1.0/"
    assert licence_url("apache-2.0") == "apache-2.0"


def test_configs_stand_by_length_then_ratio() -> None:
    names = ["loft_32k", "1m_p0", "32k_p100", "loft_4k", "32k_p25", "12000_p0", "4k_p0"]
    configs = {name: Config.model_construct(**config_facts(name, {}), files={}) for name in names}
    assert in_order(configs) == ["4k_p0", "12000_p0", "32k_p25", "32k_p100", "1m_p0", "loft_4k", "loft_32k"]


def test_cut_and_size() -> None:
    assert cut("one two three", 13) == "one two three"
    assert cut("one two three", 9) == "one two …"
    assert cut("長い文章です", 3) == "長い文 …"
    assert [size(n) for n in (999, 1500, 432_779_218, 2_000_000_000)] == ["999 B", "1.5 kB", "432.8 MB", "2.0 GB"]
