"""Peak memory of a build with a knowledge source four times as large, compared with the original."""

import json
import sys
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from benchmarks.inputs import KNOWLEDGE, TASKS
from benchmarks.report import Result

TIMES = 4
LIMIT = 20  # questions of each task and split
PAUSE = 0.05  # seconds between two samples
RETRIEVERS = "{bm25: {kind: bm25, k: 200}, tfidf: {kind: tfidf, k: 20}}"


def bench(folder: Path, work: Path) -> list[Result]:
    """The largest sum of resident memory over the processes of each build, in MB."""
    once, grown = work / "once.jsonl", work / "grown.jsonl"
    repeat_pages(folder / KNOWLEDGE, once, 1)
    repeat_pages(folder / KNOWLEDGE, grown, TIMES)
    large, small = (peak_megabytes(build_command(folder, source, work)) for source in (grown, once))
    ratio = large / small
    return [Result("memory", "MB", large, small, ratio, "at most 1.3", None, f"ours, a source 1/{TIMES} as large")]


def repeat_pages(source: Path, out: Path, times: int) -> None:
    """Writes a knowledge source with every page `times` times; copies have their own ids and titles."""
    with out.open("w", encoding="utf-8") as file:
        for copy in range(times):
            with source.open(encoding="utf-8") as lines:
                for line in lines:
                    file.write(line if copy == 0 else _copied(json.loads(line), copy))


def _copied(page: dict, copy: int) -> str:
    title = f"{page['wikipedia_title']} ({copy})"
    own = {"_id": f"{page['wikipedia_id']}-{copy}", "wikipedia_id": f"{page['wikipedia_id']}-{copy}"}
    text = [f"{title}\n", *page["text"][1:]]
    return json.dumps({**page, **own, "wikipedia_title": title, "text": text}, ensure_ascii=False) + "\n"


def build_command(folder: Path, source: Path, work: Path) -> list[str]:
    """The command that builds the small KILT over another knowledge source, with retrievers without models."""
    settings = {
        "data": folder,
        "knowledge": f"{{reader: kilt, path: {source}}}",
        "retrievers": RETRIEVERS,
        "lengths": "[1k, 2k]",
    }
    for task in TASKS:
        settings[f"tasks.{task}.files"] = f"{{dev: {{reader: kilt, path: {task}-dev-kilt.jsonl}}}}"
    command = [sys.executable, "-m", "icr2_cli", "build", "kilt_mini", "--limit", str(LIMIT)]
    command += [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    return [*command, "--out", str(work / f"{source.stem}-out"), "--work", str(work / f"{source.stem}-work")]


def peak_megabytes(command: list[str]) -> float:
    """The peak resident memory of a command and its child processes; RuntimeError if it fails."""
    import psutil

    with TemporaryFile("w+") as log:
        process = psutil.Popen(command, stdout=log, stderr=log)
        peak = 0
        while process.poll() is None:
            peak = max(peak, _resident(process))
            time.sleep(PAUSE)
        if process.returncode:
            log.seek(0)
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {log.read()[-2000:]}")
    return peak / 1e6


def _resident(root: Any) -> int:
    """Bytes of a process and its children; one that ends meanwhile counts as 0."""
    import psutil

    total = 0
    for process in [root, *_children(root)]:
        with suppress(psutil.NoSuchProcess):
            total += process.memory_info().rss
    return total


def _children(root: Any) -> list[Any]:
    import psutil

    try:
        return root.children(recursive=True)
    except psutil.NoSuchProcess:
        return []
