"""Commands run in this process, where they need not load torch and transformers again."""

import contextlib
import io
import runpy
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest


def run(command: Sequence[str], **how: Any) -> "subprocess.CompletedProcess[str]":
    """What `subprocess.run` gives for `[python, "-m", MODULE, ...]` with text output; `how` is left aside."""
    assert command[1] == "-m", command
    said, code = io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        patch.setattr(sys, "argv", list(command[2:]))
        try:
            runpy.run_module(command[2], run_name="__main__", alter_sys=True)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return subprocess.CompletedProcess(list(command), code, said.getvalue(), said.getvalue())
