"""The commands of an experiment, in order: build, then train, probe and evaluate each model."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from eval_harness.data.dataset import open_dataset
from eval_harness.experiments.models import Tuned
from eval_harness.experiments.scale import Options, Scale, options


class Command(NamedTuple):
    """Arguments of `icr2`; skipped if the path `makes` exists; with `trains`, accelerate may launch it."""

    arguments: list[str]
    makes: Path | None = None
    trains: bool = False


class Place(NamedTuple):
    """The scale of the experiments, the dataset, the training split, and the output folder."""

    scale: Scale
    dataset: Path
    split: str
    out: Path

    def checkpoint(self, model: Tuned) -> str:
        """The value of `--model`."""
        return str(self.out / "models" / model.name) if model.is_trained else model.base or self.scale.model

    def heads(self, model: Tuned) -> Path:
        """The heads file of a probe."""
        return self.out / "heads" / f"{model.name}.json"

    def run(self, model: Tuned) -> Path:
        """The model's run folder."""
        return self.out / "runs" / model.name

    def record(self) -> dict[str, Any]:
        """What all outputs depend on, once the dataset exists."""
        scale = self.scale.model_dump(exclude={"build", "launch"})
        return {"scale": scale, "split": self.split, "manifest_sha256": open_dataset(self.dataset).manifest_sha256}


def commands(
    place: Place, answering: Sequence[Tuned], probed: Sequence[Tuned], trained: Sequence[Tuned] = ()
) -> Iterator[Command]:
    """The commands needed for a report: runs and heads of its models."""
    build = place.scale.build
    settings = [part for setting in build.set for part in ("--set", setting)]
    yield Command(["build", build.recipe, *settings, "--out", str(place.dataset)], place.dataset / "manifest.json")
    for model in dict.fromkeys((*answering, *probed, *trained)):
        if model.is_trained:
            yield _train(place, model)
        if model in probed or (model in answering and model.rap(place.scale)):
            yield _probe(place, model)
        if model in answering:
            yield _answer(place, model)


def _train(place: Place, model: Tuned) -> Command:
    scale = place.scale
    if model.loss:
        how = ["head", "--loss", model.loss, "--k", str(scale.k)]
    else:
        how = ["sft", "--variant", str(model.variant), *([] if model.marks else ["--no-marks"])]
    kind, *rest = how
    samples = ["--samples", scale.taken(model.share), "--split", place.split]
    given = [*_configs(scale.learned), "--model", scale.model, *rest, *samples, *options(scale.train)]
    made = place.checkpoint(model)
    return Command(["train", kind, str(place.dataset), *given, "--out", made], trains=True)


def _probe(place: Place, model: Tuned) -> Command:
    return probing(place, model, place.scale.probe, place.heads(model))


def probing(place: Place, model: Tuned, how: Options, out: Path) -> Command:
    """The command that probes a model."""
    look = ["--position", model.position(place.scale), *options(how)]
    given = ["--config", place.scale.configs[0], "--model", place.checkpoint(model), *look]
    return Command(["probe", str(place.dataset), *given, "--out", str(out)], out)


def _answer(place: Place, model: Tuned) -> Command:
    return answering(
        place, model, place.scale.configs, model.methods(place.scale), place.scale.answer, place.run(model)
    )


def answering(
    place: Place, model: Tuned, configs: Sequence[str], methods: Sequence[str], how: Options, out: Path
) -> Command:
    """The command that evaluates methods of a model."""
    rap = any("rap" in method for method in methods)
    heads = ["--heads", str(place.heads(model))] if rap else []
    preset = ["--preset", str(model.preset(place.scale))] if rap and model.preset(place.scale) else []
    named = [part for method in methods for part in ("--method", method)]
    given = ["--model", place.checkpoint(model), *named, *heads, *preset, *options(how)]
    return Command(["eval", str(place.dataset), *_configs(configs), *given, "--out", str(out)])


def _configs(names: Sequence[str]) -> list[str]:
    return [part for name in names for part in ("--config", name)]
