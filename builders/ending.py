"""How the command ends early: Ctrl-C and SIGTERM are one line and exit code 130, and workers end with their parent."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

CODE = 130  # what a shell gives a command that Ctrl-C ended
LINE = "stopped; rerun the same command to resume"
GRACE_S = 3.0  # from the signal to the end of the process, whatever it is doing
SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SHOW_CURSOR = "\r\x1b[?25h"  # a progress bar hides it
_SILENT = "ignore::UserWarning:multiprocessing.resource_tracker"
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


class _State:
    running = False  # inside `stoppable`, where an exception ends the command
    asked = False
    said = False


def is_the_command(module: str) -> bool:
    """Whether the module of this name is loaded to run the command `icr2`, not by another program."""
    return module == "__main__" or Path(sys.argv[0]).stem.removesuffix("-script") == "icr2"


def stop_while_loading() -> None:
    """Makes a signal end the process at once, with the line, until `stoppable` is entered."""
    for number in SIGNALS:
        signal.signal(number, _on_signal)


@contextmanager
def stoppable() -> Iterator[None]:
    """A block that Ctrl-C or SIGTERM ends with the line on stderr and SystemExit(130), after GRACE_S seconds at most.

    Code that cannot be interrupted (a long call into C, a thread that waits for a server) is ended with its process.
    """
    main = threading.current_thread() is threading.main_thread()  # the one that takes signals
    before = {number: signal.signal(number, _on_signal) for number in SIGNALS if main}
    hook, sys.unraisablehook = sys.unraisablehook, _on_unraisable
    _State.asked = _State.said = False
    with _watched() if main else nullcontext():
        try:
            _State.running = True
            yield
        except BaseException as error:
            if not (_State.asked or isinstance(error, KeyboardInterrupt)):
                raise
            _say()
            raise SystemExit(CODE) from None
        finally:
            _State.running, sys.unraisablehook = False, hook
            if not _State.asked:  # else a second signal ends the process at once
                for number, handler in before.items():
                    signal.signal(number, handler)


@contextmanager
def _watched() -> Iterator[None]:
    """A thread that hears of signals while Python's handlers wait for the main thread."""
    heard, waking = socket.socketpair()
    waking.setblocking(False)
    threading.Thread(target=_watch, args=(heard,), daemon=True).start()
    previous = signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    try:
        yield
    finally:
        if not _State.asked:
            signal.set_wakeup_fd(previous)
            waking.close()  # which ends the thread


def _watch(heard: socket.socket) -> None:
    while number := heard.recv(1):
        if number[0] in SIGNALS and not threading.Event().wait(GRACE_S):
            _leave()


def _on_signal(number: int, frame: FrameType | None) -> None:
    if _State.asked or not _State.running:
        _leave()
    _State.asked = True
    raise KeyboardInterrupt


def _on_unraisable(unraisable: Any) -> None:
    """A finaliser in which the signal arrived has swallowed it."""
    if _State.asked and issubclass(unraisable.exc_type, KeyboardInterrupt):
        _leave()
    sys.__unraisablehook__(unraisable)


def _say() -> None:
    if not _State.said:
        _State.said = True
        text = f"{_SHOW_CURSOR if os.isatty(2) else ''}{LINE}\n"
        with suppress(OSError):
            os.write(2, text.encode())


def _leave() -> None:
    _say()
    os._exit(CODE)


@contextmanager
def starting_workers() -> Iterator[None]:
    """A block in which processes are started that never see Ctrl-C, which is their parent's.

    They also do not load the program of their parent again: what they run is in modules. The process that cleans up
    behind a killed one does so in silence.
    """
    program, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    block = getattr(signal, "pthread_sigmask", None)  # not on Windows
    mask = block(signal.SIG_BLOCK, [signal.SIGINT]) if block else None
    warnings = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [warnings, _SILENT]))
    try:
        yield
    finally:
        os.environ.pop("PYTHONWARNINGS")
        if warnings is not None:
            os.environ["PYTHONWARNINGS"] = warnings
        sys.modules["__main__"] = program
        if block:
            block(signal.SIG_SETMASK, mask)


def ending_with_us() -> dict[str, Any]:
    """Arguments of `subprocess` for a command that ends with this process, on Linux also after SIGKILL."""
    return {"preexec_fn": partial(end_with_parent, os.getpid())} if sys.platform == "linux" else {}


def end_with_parent(parent: int) -> None:
    """Ends this worker when the process with the id `parent`, which started it, ends in any way."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the call
            os._exit(CODE)
    else:
        wait_for_parent(parent)


def wait_for_parent(parent: int) -> None:
    """The same on every system: a thread that reads the pipe which the parent holds open."""
    threading.Thread(target=_read_parent, daemon=True).start()


def _read_parent() -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    if parent := parent_process():
        wait([parent.sentinel])
    os._exit(CODE)


def _in_a_forked_child() -> None:
    if _State.running:  # its parent's signals are not its own
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_in_a_forked_child)
