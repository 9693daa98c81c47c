"""The experiments by name; to add one, write a file with an `Experiment` and add a line here."""

from eval_harness.experiments.base import Experiment
from eval_harness.experiments.figure1 import FIGURE1
from eval_harness.experiments.figure5 import FIGURE5
from eval_harness.experiments.figure6 import FIGURE6
from eval_harness.experiments.figure7 import FIGURE7, FIGURE9
from eval_harness.experiments.protocols import (
    FRAMES_MAIN,
    FRAMES_ROUNDS,
    FRAMES_TYPES,
    NEEDLES_ALL,
    ONCU_MAIN,
    ONCU_POSITION,
    ONCU_VALIDITY,
)
from eval_harness.experiments.table2 import TABLE2
from eval_harness.experiments.table3 import TABLE3
from eval_harness.experiments.table4 import TABLE4
from eval_harness.experiments.table5 import TABLE5
from eval_harness.experiments.table6 import TABLE6
from eval_harness.experiments.table7 import TABLE7
from eval_harness.experiments.table9 import TABLE9

EXPERIMENTS: dict[str, Experiment] = {
    "table2": TABLE2,
    "table3": TABLE3,
    "table4": TABLE4,
    "table5": TABLE5,
    "table6": TABLE6,
    "table7": TABLE7,
    "table9": TABLE9,
    "figure1": FIGURE1,
    "figure5": FIGURE5,
    "figure6": FIGURE6,
    "figure7": FIGURE7,
    "figure9": FIGURE9,
    "oncu_main": ONCU_MAIN,
    "oncu_validity": ONCU_VALIDITY,
    "oncu_position": ONCU_POSITION,
    "needles_all": NEEDLES_ALL,
    "frames_main": FRAMES_MAIN,
    "frames_types": FRAMES_TYPES,
    "frames_rounds": FRAMES_ROUNDS,
}
