"""Runs stages: every missing shard is written once, renamed into place, and marked with its counts."""

import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from builders.config import AnyRecipe, Source
from builders.ending import end_with_parent, starting_workers
from builders.errors import SetupError
from builders.files import remove, replacing, write_json
from builders.work import Build, Counts, Shard, mark_of, write_shards

Tick = Callable[[int, int], None]  # (units done, units in all) inside one long shard


class Make(Protocol):
    """Writes one shard (a file or a folder) to `out` and returns counts; a pure function of its inputs."""

    def __call__(self, build: Build[Any], shard: Shard, out: Path, tick: Tick) -> Counts: ...


class Stage(NamedTuple):
    """One step of the build."""

    name: str
    says: str  # what the progress bar shows
    code: int  # raised when a change of the code changes the output
    after: tuple[str, ...]  # stages whose shards it reads
    settings: tuple[str, ...]  # recipe fields it depends on
    plan: Callable[[Build[Any]], list[Shard]]  # in order
    make: Make
    alone: bool = False  # one shard at a time, each in its own process (JVM, torch), with all threads
    leaves_out: bool = False  # counts excluded records, which are printed when a build ends


def no_identities(recipe: AnyRecipe) -> dict[str, Any]:
    """For a pipeline that depends only on its recipe, its inputs and its own code."""
    return {}


class Pipeline(NamedTuple):
    """How the datasets of one kind of recipe are built: stages in order, the last of which writes the files.

    `sources(recipe, base)` gives every source by its place in the recipe, its path relative to `base`; SetupError
    where the recipe names a reader or a retriever that does not exist. `identities(recipe)` says what a stage depends
    on besides its settings and inputs, by the setting that brings it in.
    """

    recipe: type[AnyRecipe]
    stages: Sequence[Stage]
    sources: Callable[[Any, Path], Mapping[str, Source]]
    says: str  # one or two sentences for the card: what the contexts are
    identities: Callable[[Any], dict[str, Any]] = no_identities


def run_stage(stage: Stage, build: Build[Any], pool: "Pool", progress: Progress) -> float:
    """Runs the missing shards of a stage; returns the seconds that it took."""
    began = monotonic()
    folder = build.folder(stage.name)
    done = folder / "done.json"
    _forget_edited(folder)
    if done.exists():
        return 0.0
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob(".*.partial"):
        remove(leftover)
    shards = stage.plan(build)
    missing = [shard for shard in shards if not mark_of(folder / shard.name).exists()]
    bar = progress.add_task(stage.says, total=len(shards) or 1, completed=len(shards) - len(missing))
    for _ in pool.run(stage, build, missing, lambda done, total: progress.update(bar, completed=done, total=total)):
        if not stage.alone or len(shards) > 1:
            progress.update(bar, advance=1)
    progress.update(bar, total=len(shards) or 1, completed=len(shards) or 1)
    write_shards(done, shards)
    return monotonic() - began


def _forget_edited(folder: Path) -> None:
    """Has files made again that changed after their marks: a dataset's files are links to them, and may be edited."""
    for mark in folder.glob("*.done.json"):
        path = mark.with_name(mark.name.removesuffix(".done.json"))
        if path.is_file() and path.stat().st_mtime_ns > mark.stat().st_mtime_ns:
            mark.unlink()
            (folder / "done.json").unlink(missing_ok=True)


def make_shard(stage: Stage, build: Build[Any], shard: Shard, tick: Tick) -> str:
    """Writes one shard: its content by a rename, then the marker file with its counts."""
    path = build.folder(stage.name) / shard.name
    with replacing(path) as partial:
        counts = stage.make(build, shard, partial, tick)
        for place, given in build.inputs.items():  # what was read is what its digest says
            if place.split(".")[0] in stage.settings:
                given.check()
    write_json(mark_of(path), counts)
    return shard.name


class Pool:
    """Runs shards in this process (one worker) or in worker processes, none of which outlives this one."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._executor: ProcessPoolExecutor | None = None
        self._started: set[BaseProcess] = set()

    def run(self, stage: Stage, build: Build[Any], shards: list[Shard], tick: Tick) -> Iterator[str]:
        """Yields the name of each shard as it is finished."""
        if self._workers == 1:
            for shard in shards:
                yield make_shard(stage, build, shard, tick if len(shards) == 1 else _no_tick)
        elif stage.alone:
            for shard in shards:
                with _executor(1) as own:
                    yield from self._drain([self._submit(own, stage, build, shard)], build, stage, tick)
        else:
            self._executor = self._executor or _executor(self._workers)
            submitted = [self._submit(self._executor, stage, build, shard) for shard in shards]
            yield from self._drain(submitted, build, stage, tick)

    def _submit(self, executor: ProcessPoolExecutor, stage: Stage, build: Build[Any], shard: Shard) -> Future[str]:
        before = set(multiprocessing.active_children())
        try:
            with starting_workers():
                return executor.submit(_in_worker, stage, build, shard)
        finally:
            self._started |= set(multiprocessing.active_children()) - before

    def _drain(self, futures: list[Future[str]], build: Build[Any], stage: Stage, tick: Tick) -> Iterator[str]:
        waiting = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
                if not done and len(futures) == 1:
                    _report(build, stage, tick)
        except BrokenProcessPool:
            self.stop()
            raise SetupError(
                f"a worker of stage {stage.name} was killed, perhaps for want of memory; "
                "rerun the same command to resume, with fewer --workers"
            ) from None
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends the worker processes at once, whatever they are doing: unfinished shards are made again."""
        for process in self._started:
            process.kill()

    def close(self) -> None:
        """Ends the worker processes, which have nothing left to do."""
        if self._executor:
            self._executor.shutdown(wait=True, cancel_futures=True)


def _executor(workers: int) -> ProcessPoolExecutor:
    # spawn: forking a process that has threads (Arrow, torch, a JVM) can hang
    spawn = multiprocessing.get_context("spawn")
    with starting_workers():
        return ProcessPoolExecutor(workers, mp_context=spawn, initializer=end_with_parent, initargs=(os.getpid(),))


def _in_worker(stage: Stage, build: Build[Any], shard: Shard) -> str:
    with _progress_file(build, stage, shard.name) as tick:
        return make_shard(stage, build, shard, tick)


@contextmanager
def _progress_file(build: Build[Any], stage: Stage, shard: str) -> Iterator[Tick]:
    """A worker reports progress through a small file, removed when the shard is done."""
    path = build.folder(stage.name) / f".{shard}.progress.partial"
    last = 0.0

    def tick(done: int, total: int) -> None:
        nonlocal last
        if monotonic() - last > 0.4:
            last = monotonic()
            path.write_text(json.dumps([done, total]))

    try:
        yield tick
    finally:
        path.unlink(missing_ok=True)


def _report(build: Build[Any], stage: Stage, tick: Tick) -> None:
    for path in build.folder(stage.name).glob(".*.progress.partial"):
        try:
            tick(*json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):  # being written or removed
            continue


def _no_tick(done: int, total: int) -> None:
    """For shards of a stage whose progress is counted in shards."""


def progress_bars(console: Console) -> AbstractContextManager[Progress]:
    """One bar per stage, on stderr."""
    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )
