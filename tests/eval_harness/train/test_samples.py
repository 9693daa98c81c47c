"""Which instances are learned from, how they are counted, and in which order they come."""

from collections import Counter
from pathlib import Path

import pytest

from builders.errors import SetupError
from eval_harness.data.dataset import open_dataset
from eval_harness.train.encode import Encoded, Encoder
from eval_harness.train.samples import Order, Part, Samples, choose, described, write_samples
from tests.eval_harness.conftest import instance
from tests.eval_harness.specs import WOW
from tests.eval_harness.train.conftest import CONFIG, learnable, write_dataset
from tests.eval_harness.train.test_encode import made_tokenizer, many
from tests.manifests import write_manifest_2

ROWS = [(f"{task}-{n}", task) for n in range(20) for task in ("nq", "wow")]


def test_as_many_of_each_task_as_are_wanted_whatever_the_order_of_rows() -> None:
    found = choose(ROWS, {"nq": 5}, "0")
    assert Counter(id.split("-")[0] for id in found) == {"nq": 5}
    assert choose(ROWS[::-1], {"nq": 5}, "0") == found
    assert choose(ROWS, {"nq": 5}, "1") != found
    assert found < choose(ROWS, {"nq": 6}, "0")  # the same ones, and one more
    assert len(choose(ROWS, {"": 3}, "0")) == 6
    assert len(choose(ROWS, {"": 99}, "0")) == 40


def test_all_configs_give_the_same_instances(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path / "d", learnable(), learnable())
    (folder / "2k_p0").symlink_to(folder / CONFIG)
    write_manifest_2(folder)
    part = Part(open_dataset(folder), [CONFIG, "2k_p0"], "train", {"nq": 2})
    chosen = part.chosen("0")
    assert chosen[CONFIG] == chosen["2k_p0"]
    assert len([*part.instances(chosen)]) == 4
    with pytest.raises(SetupError, match="available tasks: fever, nq, wow"):
        Part(open_dataset(folder), [CONFIG], "train", {"hotpotqa": 2}).chosen("0")


def test_what_is_left_out_is_counted_by_its_reason(tmp_path: Path) -> None:
    """Shortened samples and those that are too long are counted."""
    encoder = Encoder(made_tokenizer(tmp_path / "t", chat=True), "tiny", "da", 700)
    rows = [
        many(3, gold=0)._replace(id="whole"),
        many(20)._replace(id="shortened"),
        many(20)._replace(id="long", gold=[*range(20)]),
        many(3, gold=0)._replace(id="unanswered", answers=[]),
        many(3, gold=0)._replace(id="groundless", gold=[], spec=WOW),
    ]
    counts = write_samples(tmp_path / "s.arrow", encoder, rows)
    assert counts == {
        "nq": {"used": 2, "shortened": 1, "over_long": 1, "no_answer": 1},
        "wow": {"no_gold": 1},
    }
    assert described(counts) == "2 samples, 1 of them shortened; skipped: 1 no_answer, 1 no_gold, 1 over_long"
    samples = Samples(tmp_path / "s.arrow")
    assert [samples[at].id for at in range(len(samples))] == ["whole", "shortened"]
    assert [samples[at] for at in range(2)] == [encoder.encode(row) for row in rows[:2]]
    with pytest.raises(SetupError, match=r'all instances were skipped.*"over_long": 1.*--max-length'):
        write_samples(tmp_path / "none.arrow", encoder, rows[2:3])


def test_more_samples_than_a_batch_of_the_file_are_all_there(tmp_path: Path) -> None:
    encoder = Encoder(made_tokenizer(tmp_path / "t", chat=False), "tiny", "da", 700)
    rows = [many(1, gold=0)._replace(id=str(n)) for n in range(150)]
    write_samples(tmp_path / "s.arrow", encoder, rows)
    samples = Samples(tmp_path / "s.arrow")
    assert [samples[at].id for at in range(len(samples))] == [str(n) for n in range(150)]


class Fixed(Samples):
    """So many samples that are their numbers."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, at: int) -> Encoded:
        return Encoded(str(at), "nq", [at], 0)


def test_every_round_holds_all_samples_in_an_order_of_its_own() -> None:
    order = [sample.id for sample in (Order(Fixed(7), "0", 21)[at] for at in range(21))]
    rounds = [order[start : start + 7] for start in (0, 7, 14)]
    assert all(sorted(one) == [*"0123456"] for one in rounds)
    assert len({tuple(one) for one in rounds}) == 3
    assert Order(Fixed(7), "0", 21)[17].id == order[17]  # a place is the same, wherever one begins
    assert [Order(Fixed(7), "1", 21)[at].id for at in range(7)] != order[:7]


def test_instances_are_scanned_by_id(tmp_path: Path) -> None:
    from eval_harness.data.dataset import names, scan

    rows = [instance(f"nq-{n}", "nq", "q", ["a"], [0], ["t"]) for n in range(40)]
    dataset = open_dataset(write_dataset(tmp_path / "d", rows, rows))
    assert [*names(dataset, CONFIG, "train")] == [(f"nq-{n}", "nq") for n in range(40)]
    assert [one.id for one in scan(dataset, CONFIG, "train", {"nq-39", "nq-3"})] == ["nq-3", "nq-39"]
