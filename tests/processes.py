"""Processes of tests that are killed, or that train together: forked from one that has loaded the libraries once.

Each would spend five seconds of its own on loading torch and transformers.
"""

import multiprocessing
import os
import socket
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext
from typing import Any

_LOADED = [
    "tests.eval_harness.train.sharded",
    "tests.eval_harness.train.stopping",
    "transformers.trainer",
    "peft",
    "rouge_score.rouge_scorer",
    "matplotlib.pyplot",
    "tests.frozen",
]
_LONGEST_S = 280


def ended(
    function: Callable[..., object], each: Sequence[tuple[Any, ...]], environment: Sequence[Mapping[str, str]] = ()
) -> list[int]:
    """The exit codes of processes that call a function of a module, side by side, each with its own arguments.

    `environment` gives each its variables. Once one has failed or was killed, the others are ended too.
    """
    context = _context()
    processes = [
        context.Process(target=_run, args=(function, arguments, dict(own)))
        for arguments, own in zip(each, environment or [{}] * len(each), strict=True)
    ]
    for process in processes:
        process.start()
    waiting = list(processes)
    while waiting:
        wait([process.sentinel for process in waiting], timeout=_LONGEST_S)
        if not (done := [process for process in waiting if not process.is_alive()]):
            break
        waiting = [process for process in waiting if process not in done]
        if any(process.exitcode for process in done):
            break
    for process in waiting:
        process.kill()
        process.join()
    return [process.exitcode or 0 for process in processes]


def launched(settings: Sequence[str], function: Callable[..., object], *arguments: Any) -> list[int]:
    """The exit codes of two processes that have the variables which `accelerate launch` with these settings gives."""
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser
    from accelerate.utils.launch import prepare_deepspeed_cmd_env, prepare_multi_gpu_env

    where = "--num_processes 2 --num_machines 1 --mixed_precision no --dynamo_backend no --main_process_port 0"
    given, *_ = _validate_launch_command(launch_command_parser().parse_args([*settings, *where.split(), "script"]))
    made = prepare_deepspeed_cmd_env(given)[1] if given.use_deepspeed else prepare_multi_gpu_env(given)
    shared = {name: value for name, value in made.items() if os.environ.get(name) != value}
    shared |= {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": _free_port()}
    return ended(function, [arguments] * 2, [{**shared, "RANK": rank, "LOCAL_RANK": rank} for rank in "01"])


def _free_port() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


def _run(function: Callable[..., object], arguments: Sequence[Any], environment: Mapping[str, str]) -> None:
    os.environ |= environment
    try:
        function(*arguments)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)  # without waiting for the others


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_LOADED)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes share the cores
    return context
