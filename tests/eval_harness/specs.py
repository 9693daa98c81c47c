"""Tasks of each kind, as a manifest would describe them."""

from builders.tasks import TaskSpec

NQ = TaskSpec("nq", "qa")
HOTPOTQA = TaskSpec("hotpotqa", "qa")
FEVER = TaskSpec("fever", "fact", {"SUPPORTS": "TRUE", "REFUTES": "FALSE"})
WOW = TaskSpec("wow", "dialogue")
QUEST = TaskSpec("quest", "set")
NEEDLE = TaskSpec("needle", "needle")
NEEDLES = TaskSpec("needles", "needle", scorer="all_needles")
FRAMES = TaskSpec("frames", "qa")

SPECS = {spec.name: spec for spec in (NQ, HOTPOTQA, FEVER, WOW, QUEST, NEEDLE, NEEDLES, FRAMES)}
