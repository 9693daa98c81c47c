import pytest

from eval_harness.report.names import Parts, in_order, listed, parts_of


@pytest.mark.parametrize(
    ("config", "parts"),
    [
        ("4k_p75", Parts("", "4k", 4096, 75)),
        ("1m_p0", Parts("", "1m", 1_048_576, 0)),
        ("12000_p5", Parts("", "12000", 12000, 5)),
        ("loft_32k", Parts("loft", "32k", 32768, None)),
        ("whatever", Parts("whatever", "", 0, None)),
    ],
)
def test_parts(config: str, parts: Parts) -> None:
    assert parts_of(config) == parts


def test_order_is_by_length_then_ratio_as_numbers() -> None:
    found = in_order(["loft_4k", "32k_p0", "4k_p100", "4k_p25", "1k_p0", "mine"])
    assert found == ["1k_p0", "4k_p25", "4k_p100", "32k_p0", "loft_4k", "mine"]


def test_many_configs_are_named_by_the_first_and_last() -> None:
    assert listed(["2k_p0", "1k_p0"]) == "1k_p0, 2k_p0"
    assert listed(["4k_p0", "2k_p0", "1k_p0", "loft_4k"]) == "1k_p0 … loft_4k (4 configs)"
