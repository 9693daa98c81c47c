"""A synthetic dataset that was interrupted resumes to the same bytes, whatever the number of workers."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
import yaml
from rich.console import Console

import builders.pipeline
from builders.config import AnyRecipe
from builders.load_recipe import load_recipe
from builders.pipeline import pipeline_of, run_build
from tests.builders.synthetic import test_frames as frames
from tests.builders.synthetic.haystack_texts import recipe_of, write_groups, write_texts
from tests.builders.synthetic.small import question, write_hotpot


def controlled(folder: Path) -> AnyRecipe:
    take = "take={test: 2, validation: 1}"
    return load_recipe("controlled", ["lengths=[1k]", take, "depths=[0, 50]", "world=30"])[0]


def needles(folder: Path) -> AnyRecipe:
    write_texts(folder / "texts")
    write_groups(folder / "groups.yaml")
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe_of()))
    return load_recipe(str(folder / "recipe.yaml"), [])[0]


def given(folder: Path) -> AnyRecipe:
    write_hotpot(folder, [question(n) for n in range(6)])
    take = "tasks.hotpotqa.take={test: {source: dev, n: 4}, train: {source: dev, n: 2}}"
    return load_recipe("given_hotpotqa", ["tasks.hotpotqa.files.dev.rows=6", take, "lengths=[2k]"])[0]


def of_frames(folder: Path) -> AnyRecipe:
    frames.write(folder, frames.PAGES, frames.QUESTIONS)
    knowledge = "knowledge={reader: kilt, path: pages.jsonl}"
    return load_recipe("frames", [knowledge, "questions={reader: frames, path: questions.jsonl}", "lengths=[1k]"])[0]


KINDS = [(controlled, 1, 2), (needles, 2, 1), (given, 1, 2), (of_frames, 2, 1)]


@pytest.mark.parametrize(("write", "stages", "workers"), KINDS, ids=["controlled", "needles", "given", "frames"])
def test_an_interrupted_build_resumes_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], AnyRecipe], stages: int, workers: int
) -> None:
    recipe = write(tmp_path)

    def built(out: str, workers: int) -> dict[str, str]:
        run_build(recipe, tmp_path, tmp_path / out, tmp_path / f"{out}.work", workers, Console(quiet=True))
        files = sorted(path for path in (tmp_path / out).rglob("*") if path.is_file())
        return {str(path.relative_to(tmp_path / out)): sha256(path.read_bytes()).hexdigest() for path in files}

    left, run_stage = stages, builders.pipeline.run_stage

    def interrupted(*arguments: object) -> float:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        return run_stage(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(builders.pipeline, "run_stage", interrupted)
    with pytest.raises(KeyboardInterrupt):
        built("out", workers)
    monkeypatch.undo()
    assert not (tmp_path / "out").exists()
    done = {path.parent.name: path.stat().st_mtime_ns for path in (tmp_path / "out.work").rglob("done.json")}
    assert len(done) == stages < len(pipeline_of(recipe).stages)
    assert built("out", workers) == built("whole", 1)
    after = {path.parent.name: path.stat().st_mtime_ns for path in (tmp_path / "out.work").rglob("done.json")}
    assert len(after) == len(pipeline_of(recipe).stages) and done.items() <= after.items()


def test_a_changed_setting_redoes_what_depends_on_it(tmp_path: Path) -> None:
    recipe = needles(tmp_path)
    build = run_build(recipe, tmp_path, tmp_path / "out", tmp_path / "work", 1, Console(quiet=True))
    changed = recipe.model_copy(update={"depths": [0, 50]})
    again = run_build(changed, tmp_path, tmp_path / "out", tmp_path / "work", 1, Console(quiet=True))
    assert {stage for stage in build.digests if build.digests[stage] == again.digests[stage]} == {"groups", "fragments"}
