"""A training from start to finished checkpoint: prepares it once, resumes it if interrupted, and finishes it."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import Any, NamedTuple

from builders.errors import SetupError
from builders.files import remove, replacing, write_json
from builders.typed import read_json, typed
from builders.work import only_one
from eval_harness.data.dataset import Dataset, Instance, check_parts, open_dataset
from eval_harness.models.local import Checkpoint, find_checkpoint
from eval_harness.models.template import load_config, load_tokenizer, position_limit
from eval_harness.models.training import Training, read_training, write_training
from eval_harness.run.results import differing, open_record
from eval_harness.train.encode import Encoder
from eval_harness.train.fit import check_launch, processes
from eval_harness.train.network import write_start
from eval_harness.train.points import Point, last_point, remove_parts
from eval_harness.train.progress import FIGURE, LOG, encoding_bar, say
from eval_harness.train.samples import Counts, Part, described, write_samples
from eval_harness.train.settings import Settings, finished_record, request, wanted

Write = Callable[[Path, Encoder, Iterable[Instance], Callable[[], object]], Counts]  # like `write_samples`


class Job(NamedTuple):
    """A training: its settings, base model, record and output."""

    settings: Any  # Settings, or a subclass
    dataset: Dataset
    base: Checkpoint
    record: dict[str, Any]
    out: Path

    @property
    def work(self) -> Path:
        """The work folder, which is removed once the checkpoint is finished."""
        return self.out.with_name(f"{self.out.name}.work")

    @property
    def start(self) -> Path:
        """The prepared base model."""
        return self.work / "start"

    @property
    def data(self) -> Path:
        """The encoded samples: `train.arrow`, `validation.arrow` and `counts.json`."""
        return self.work / "data"

    def part(self, split: str, n: int | None = None) -> Part:
        """The selected instances of a split, at most `n` of each task."""
        every = wanted(self.settings.samples)
        limited = every if n is None else {task: min(found, n) for task, found in every.items()}
        return Part(self.dataset, self.settings.configs, split, limited)


class Kind(NamedTuple):
    """The parts that differ between kinds of training.

    `fit` trains from a checkpoint to the last one; `finish` exports the model of a checkpoint folder to another folder.
    """

    fit: Callable[[Job, Point | None], Point]
    finish: Callable[[Job, Path, Path], None]
    write: Write = write_samples


def train(folder: Path, model: str, settings: Settings, out: Path, kind: Kind) -> Training | None:
    """Trains in every launched process and writes the checkpoint `out`; resumable.

    The first process returns the checkpoint's record, the others None. SetupError if `out` or its work folder contains
    something else.
    """
    me = processes()
    settings = replace(settings, processes=me.num_processes)
    settings.check()
    check_launch(settings)
    if settings.lora:
        import peft  # noqa: F401  # fail here if it is missing
    with ExitStack() as held:
        with me.main_process_first():
            job = _job(folder, model, settings, out)
            if (earlier := _finished(job)) is None:
                open_record(job.work, job.record)
                if me.is_main_process:
                    held.enter_context(_alone(job.work))
                    _prepare(job, kind.write)
                    remove_parts(job.work)
                point = last_point(job.work)
        if earlier is None:
            point = kind.fit(job, point)
            if me.is_main_process:
                earlier = _finish(job, point, kind)
    return earlier if me.is_main_process else None


def _job(folder: Path, model: str, settings: Settings, out: Path) -> Job:
    dataset = open_dataset(folder)
    for split in (settings.split, settings.validation_split):
        check_parts(dataset, settings.configs, split)
    base = find_checkpoint(model)
    return Job(settings, dataset, base, request(settings, dataset, base), out)


def _finished(job: Job) -> Training | None:
    """The record of the checkpoint if it exists; SetupError if `out` is something else."""
    if not job.out.exists():
        return None
    earlier = read_training(job.out) if job.out.is_dir() else None
    if earlier is None:
        raise SetupError(f"{job.out} exists and is not a training checkpoint; choose another --out")
    kept = earlier.model_dump(include=set(job.record))
    kept["settings"] = {name: value for name, value in kept["settings"].items() if name in job.record["settings"]}
    if names := sorted(differing(kept, json.loads(json.dumps(job.record)))):
        raise SetupError(
            f"{job.out} contains another training, which differs in {', '.join(names)}; choose another --out"
        )
    remove(job.work)  # an interrupted process may have left it
    return earlier


@contextmanager
def _alone(work: Path) -> Iterator[None]:
    with ExitStack() as held:
        try:
            held.enter_context(only_one(work))
        except SetupError:
            raise SetupError(f"another training is running in {work}; wait for it, or choose another --out") from None
        yield


def _prepare(job: Job, write: Write) -> None:
    """Writes the prepared model and the samples if they are missing."""
    settings, name = job.settings, job.base.name
    if not job.start.is_dir():
        with replacing(job.start) as partial:
            write_start(
                job.base.folder,
                name,
                partial,
                marks=settings.needs_marks(),
                rope_base=settings.rope_base,
                max_length=settings.max_length,
            )
    if not job.data.is_dir():
        tokenizer = load_tokenizer(job.start, name)
        limit = min(settings.max_length, position_limit(load_config(job.start, name), tokenizer))
        encoder = Encoder(tokenizer, name, settings.variant, limit, marks=settings.needs_marks(), seed=settings.seed)
        with replacing(job.data) as partial:
            partial.mkdir()
            _write_data(job, encoder, write, partial)


def _write_data(job: Job, encoder: Encoder, write: Write, out: Path) -> None:
    settings, counts = job.settings, {}
    parts = {
        "train": job.part(settings.split),
        "validation": job.part(settings.validation_split, settings.eval_n),
    }
    for part, source in parts.items():
        chosen = source.chosen(settings.seed)
        with encoding_bar(part, sum(map(len, chosen.values()))) as advance:
            counts[part] = write(out / f"{part}.arrow", encoder, source.instances(chosen), advance)
        say(f"{part}: {described(counts[part])}")
    write_json(out / "counts.json", counts)


def _finish(job: Job, point: Point, kind: Kind) -> Training:
    """Writes the checkpoint of the best weights by one rename, and removes the work folder."""
    path, again = job.data / "counts.json", f"remove {job.work} and rerun"
    counts = typed(read_json(path, again), dict[str, Counts], path, again)
    record = finished_record(job.record, counts, point)
    for leftover in job.out.parent.glob(f".{job.out.name}.*.partial"):  # left by a killed process
        remove(leftover)
    with replacing(job.out) as partial:
        kind.finish(job, point.best, partial)
        for name in (LOG, FIGURE):
            copyfile(job.work / name, partial / name)
        write_training(partial, record)
        _readable(partial)
    remove(job.work)
    return record


def _readable(folder: Path) -> None:
    """Gives every file the permissions of the record, since weights are written readable only by their owner."""
    rights = (folder / "training.json").stat().st_mode
    for path in folder.iterdir():
        path.chmod(rights)
