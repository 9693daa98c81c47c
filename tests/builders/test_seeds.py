import subprocess
import sys
from itertools import islice

from builders.seeds import order_key, rng_for, shuffled


def test_equal_in_another_process() -> None:
    code = "from builders.seeds import *; print(rng_for('v1', 'q').random(), order_key('v1', 'q').hex())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert other == [str(rng_for("v1", "q").random()), order_key("v1", "q").hex()]


def test_parts_are_kept_apart() -> None:
    assert order_key("ab", "c") != order_key("a", "bc")
    assert rng_for("ab", "c").random() != rng_for("a", "bc").random()


def test_shuffled_gives_each_number_once_and_the_same_first_ones() -> None:
    drawn = list(shuffled(rng_for("v1"), 200))
    assert sorted(drawn) == list(range(200)) != drawn
    assert list(islice(shuffled(rng_for("v1"), 200), 20)) == drawn[:20]
