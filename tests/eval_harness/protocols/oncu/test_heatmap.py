from collections.abc import Collection, Sequence
from pathlib import Path

from eval_harness.protocols.oncu.heatmap import depths_of, grids, heat_map
from eval_harness.protocols.oncu.matched import matched
from eval_harness.report.figures import write_png
from eval_harness.run.results import Row
from tests.eval_harness.protocols.oncu.twelve import METHODS, row_of, study_of

DEPTHS = (0, 50, 100)
# The share of two questions answered in the full context, by config and depth; gold alone answers both.
FULL_SCORES = {"controlled_1k": (1.0, 0.5, 1.0), "controlled_16k": (0.5, 0.0, 1.0), "controlled_2k": (1.0, 0.5, 1.0)}


def rows_at(config: str, scores: Sequence[float], without_depth: Collection[str] = ()) -> list[Row]:
    found = []
    for depth, score in zip(DEPTHS, scores, strict=True):
        for question, least in (("a", 0.5), ("b", 1.0)):
            id = f"nq-{question}-d{depth:03}"
            full = float(score >= least)
            oracle = 0.0 if (config, depth) == ("controlled_2k", 50) else 1.0
            answers = zip(METHODS, (0.0, full, full, oracle), strict=True)
            known = None if id in without_depth else depth
            found += [row_of(id, m, answer, config=config, question=question, depth=known) for m, answer in answers]
    return found


def test_lengths_go_down_and_depths_across(tmp_path: Path) -> None:
    unknown = {"controlled_1k": ["nq-a-d000"]}
    rows = [row for config, scores in FULL_SCORES.items() for row in rows_at(config, scores, unknown.get(config, ()))]
    study = study_of(tmp_path / "run", rows)
    (grid,) = grids(matched(study), study.facts)
    assert grid.configs == {"controlled_1k": "1k", "controlled_2k": "2k", "controlled_16k": "16k"}
    assert grid.depths == depths_of([grid]) == [0, 50, 100]
    recovered = {at: cell.recovered["vanilla_rag+cite"].raw for at, cell in grid.cells.items()}
    assert recovered["controlled_16k", 0] == 0.5
    assert recovered["controlled_16k", 50] == 0.0
    assert recovered["controlled_2k", 50] is None
    assert grid.cells["controlled_1k", 0].n == 1
    figure = heat_map([grid])
    scores, shares = figure.axes
    assert [text.get_text() for text in scores.texts] == ["1.00", "0.50", "1.00"] * 2 + ["0.50", "0.00", "1.00"]
    assert [text.get_text() for text in shares.texts][3:6] == ["1.00", "invalid", "1.00"]
    assert [label.get_text() for label in shares.get_yticklabels()] == ["1k", "2k", "16k"]
    assert [label.get_text() for label in shares.get_xticklabels()] == ["0", "50", "100"]
    write_png(figure, tmp_path / "positions.png")


def test_without_depths_there_is_no_grid(tmp_path: Path) -> None:
    every = [f"nq-{question}-d{depth:03}" for question in "ab" for depth in DEPTHS]
    study = study_of(tmp_path / "run", rows_at("controlled_1k", (1, 1, 1), every))
    assert grids(matched(study), study.facts) == []
