"""The `icr2` command: one app that mounts each folder's commands."""

from builders import ending

if ending.is_the_command(__name__):  # before what takes a second to load
    ending.stop_while_loading()

import errno
import os
import sys
from collections.abc import Callable

import typer

from builders.cli import register as register_builders
from builders.display import replace_what_cannot_be_shown, say
from builders.errors import SetupError, one_line
from builders.extras import what_to_install
from dataset_cards.cli import register as register_card
from dataset_cards.publish_cli import register as register_publish
from eval_harness.commands.evaluate import register as register_evaluate
from eval_harness.commands.experiment import register as register_experiment
from eval_harness.commands.probe import register as register_probe
from eval_harness.commands.protocols import register as register_protocols
from eval_harness.commands.report import register as register_report
from eval_harness.commands.tasks import register as register_tasks
from eval_harness.commands.train import register as register_train
from validation.cli import register as register_validation

Register = Callable[[typer.Typer], None]
PANELS: dict[str, tuple[Register, ...]] = {
    "Build": (register_builders,),
    "Validate and publish": (register_validation, register_card, register_publish),
    "Evaluate": (register_evaluate, register_probe, register_tasks),
    "Protocols": (register_protocols,),
    "Report": (register_report,),
    "Train": (register_train, register_experiment),
}

app = typer.Typer(
    help="Build, validate and run long-context retrieval benchmarks.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for panel, registers in PANELS.items():
    part = typer.Typer()
    for register in registers:
        register(part)
    for one in (*part.registered_commands, *part.registered_groups):
        one.rich_help_panel = panel
    app.registered_commands += part.registered_commands
    app.registered_groups += part.registered_groups

_UsageError = typer.BadParameter.__base__ or typer.BadParameter  # the base of all errors in options and arguments
_FIXABLE = {
    errno.ENOSPC: "the disk is full; free some space and run the same command again",
    errno.EDQUOT: "your quota is used up; free some space and run the same command again",
    errno.EACCES: "no permission; choose a writable folder",
    errno.EFBIG: "the file would be larger than files may be here; raise the limit (ulimit -f)",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.EROFS: "the file system is read-only; choose a writable folder",
}


def main() -> None:
    """Runs the command; an error that the user can fix is one line on stderr and exit code 2."""
    replace_what_cannot_be_shown()
    with ending.stoppable():
        _run()


def _run() -> None:
    try:
        code = app(prog_name="icr2", standalone_mode=False)
    except _UsageError as error:
        if not error.format_message():  # called without arguments: the help is printed
            sys.exit(2)
        _stop(f"{error.format_message().rstrip('.')}; see: {error.ctx.command_path if error.ctx else 'icr2'} --help")
    except SetupError as error:
        _stop(str(error))
    except ImportError as error:
        command = next((argument for argument in sys.argv[1:] if not argument.startswith("-")), "")
        line = what_to_install(error, command)
        if line is None:
            raise
        _stop(line)
    except BrokenPipeError:  # whoever read the output has stopped, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        if error.errno not in _FIXABLE:
            raise
        _stop(one_line(f"{error.filename or 'writing failed'}: {_FIXABLE[error.errno]}"))
    except typer.Abort:
        raise KeyboardInterrupt from None
    if code == ending.CODE:  # typer's, for a KeyboardInterrupt
        raise KeyboardInterrupt
    sys.exit(code)


def _stop(message: str) -> None:
    say(f"error: {one_line(message)}", stderr=True)
    sys.exit(2)


if __name__ == "__main__":
    main()
