from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks.training import commands, main


def given(out: Path, dataset: Path | None = None) -> Namespace:
    """Small choices."""
    return Namespace(
        out=out,
        data=None,
        dataset=dataset,
        config="1k_p100",
        model="smollm2",
        steps=8,
        accumulate=2,
        lr=1e-4,
        eval_n=1,
        probe=4,
        limit=2,
    )


def test_every_model_is_trained_looked_at_and_asked_as_what_it_is(tmp_path: Path) -> None:
    found = [*commands(given(tmp_path, tmp_path))]
    assert [command[0] for command in found] == [*["train"] * 3, *["probe"] * 4, "heads", *["eval"] * 4, "report"]
    asked = [[command[at + 1] for at, part in enumerate(command) if part == "--method"] for command in found[8:12]]
    assert asked == [
        ["vanilla_rag", "oracle_rag"],
        ["sft_da"],
        ["sft_rta", "sft_rta+rap@4x2"],
        ["sft_cci"],
    ]
    positions = [command[command.index("--position") + 1] for command in found[3:7]]
    assert positions == ["last", "last", "retrieval", "retrieval"]
    assert all(command[command.index("--heads") + 1].endswith(".json") for command in found[8:12])


def test_heads_that_are_there_are_not_looked_for_again(tmp_path: Path) -> None:
    (tmp_path / "heads-rta.json").touch()
    assert sum(command[0] == "probe" for command in commands(given(tmp_path, tmp_path))) == 3


def test_without_the_real_inputs_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"kilt_knowledgesource.json is not there; .* --data"):
        main([str(tmp_path / "out"), "--data", str(tmp_path)])
