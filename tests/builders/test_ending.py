"""Ctrl-C and SIGTERM at any moment: one line, exit code 130, no traceback, and no process that outlives the command."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import ending
from tests.imports import ROOT

LINE = "stopped; rerun the same command to resume\n"
LOADING = "import sys; sys.argv[0] = 'icr2'; import icr2_cli; icr2_cli.main()"
HANGING = "import sys; from pathlib import Path; from tests.builders.hanging import hang; hang(Path(sys.argv[1]))"
SWALLOWING = """
import time
from builders import ending
with ending.stoppable():
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
"""
RUNNING = """
import subprocess, sys
from builders import ending
write = "import os, sys, time, pathlib; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(60)"
with ending.stoppable():
    subprocess.run([sys.executable, "-c", write, sys.argv[1]], **ending.ending_with_us())
"""
IN_A_FINALISER = """
import signal
from builders import ending
class Slow:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
with ending.stoppable():
    Slow()
    print("went on")
"""


def started(*command: str) -> subprocess.Popen[str]:
    """A command in a session of its own, whose error output is read."""
    return subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


def catches(process: subprocess.Popen[str], number: int) -> bool:
    """Whether a process handles a signal itself."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    caught = next(line.split()[1] for line in lines if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (number - 1) & 1)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="reads /proc")


@needs_proc
@pytest.mark.parametrize("number", ending.SIGNALS)
def test_a_signal_while_the_command_is_loading_is_one_line(number: int) -> None:
    process = started("-c", LOADING, "--help")
    until(lambda: catches(process, signal.SIGTERM))
    process.send_signal(number)
    assert process.communicate(timeout=60)[1] == LINE
    assert process.returncode == 130


@needs_proc
@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_their_parent(ended_by: int, tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of a terminal, the others the parent alone. The reader's pipe ends too."""
    process = started("-c", HANGING, str(tmp_path))
    until(lambda: len([*tmp_path.glob("*.worker")]) == 2)
    workers = [int(path.stem) for path in tmp_path.glob("*.worker")]
    assert all(map(alive, workers))
    (os.killpg if ended_by == signal.SIGINT else os.kill)(process.pid, ended_by)
    said = process.communicate(timeout=30)[1]  # the workers would sleep for longer
    assert not any(map(alive, workers))
    assert (process.returncode, said) == ((-ended_by, "") if ended_by == signal.SIGKILL else (130, LINE))


@needs_proc
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no system call ties a command to its parent")
@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM])
def test_a_command_that_a_command_runs_ends_with_it(ended_by: int, tmp_path: Path) -> None:
    """As `icr2 experiment` runs the others."""
    process = started("-c", RUNNING, str(tmp_path / "pid"))
    until(lambda: (tmp_path / "pid").is_file() and (tmp_path / "pid").read_text().isdigit())
    child = int((tmp_path / "pid").read_text())
    assert alive(child)
    process.send_signal(ended_by)
    process.communicate(timeout=30)
    until(lambda: not alive(child))


def test_where_the_system_does_not_tell_a_worker_it_waits_for_the_end_of_a_pipe(tmp_path: Path) -> None:
    """As on macOS, where no signal comes when a parent ends."""
    without = "from builders import ending, engine; engine.end_with_parent = ending.wait_for_parent\n"
    process = started("-c", without + HANGING, str(tmp_path))
    until(lambda: len([*tmp_path.glob("*.worker")]) == 2)
    process.kill()
    process.communicate(timeout=30)
    workers = [int(path.stem) for path in tmp_path.glob("*.worker")]
    until(lambda: not any(map(alive, workers)))


def test_what_swallows_the_signal_ends_after_a_moment() -> None:
    process = started("-c", "print('here', flush=True)" + SWALLOWING)
    assert process.stdout is not None
    process.stdout.readline()
    until(lambda: catches(process, signal.SIGTERM))
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=60)[1] == LINE
    assert process.returncode == 130


def test_a_signal_inside_a_finaliser_is_not_lost() -> None:
    process = started("-c", IN_A_FINALISER)
    assert process.communicate(timeout=60) == ("", LINE)
    assert process.returncode == 130


def test_an_error_goes_through_and_the_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in ending.SIGNALS]
    with pytest.raises(KeyError), ending.stoppable():
        raise KeyError
    assert [signal.getsignal(number) for number in ending.SIGNALS] == before


def test_an_interrupt_without_a_signal_is_the_same_line(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop, ending.stoppable():
        raise KeyboardInterrupt
    assert (stop.value.code, capfd.readouterr().err) == (130, LINE)
