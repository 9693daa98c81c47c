"""The experiments by name; to add one, write a file with an `Experiment` and add a line here."""

from eval_harness.experiments.base import Experiment
from eval_harness.experiments.figure5 import FIGURE5
from eval_harness.experiments.figure6 import FIGURE6
from eval_harness.experiments.table4 import TABLE4
from eval_harness.experiments.table5 import TABLE5
from eval_harness.experiments.table9 import TABLE9

EXPERIMENTS: dict[str, Experiment] = {
    "table4": TABLE4,
    "table5": TABLE5,
    "table9": TABLE9,
    "figure5": FIGURE5,
    "figure6": FIGURE6,
}
