"""The `icr2` command: one app that mounts each folder's commands."""

import errno
import sys

import typer
from rich.console import Console

from builders.cli import register as register_builders
from builders.errors import SetupError
from builders.extras import what_to_install
from dataset_cards.cli import register as register_card
from dataset_cards.publish_cli import register as register_publish
from eval_harness.commands.evaluate import register as register_eval_harness
from eval_harness.commands.experiment import register as register_experiment
from eval_harness.commands.frames import register as register_frames
from eval_harness.commands.needles import register as register_needles
from eval_harness.commands.oncu import register as register_oncu
from eval_harness.commands.probe import register as register_probe
from eval_harness.commands.report import register as register_report
from eval_harness.commands.tasks import register as register_tasks
from eval_harness.commands.train import register as register_train
from validation.cli import register as register_validation

app = typer.Typer(
    help="Builds, checks, publishes and runs benchmarks of in-context retrieval and reasoning.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for register in (
    register_builders,
    register_validation,
    register_card,
    register_publish,
    register_eval_harness,
    register_probe,
    register_oncu,
    register_frames,
    register_needles,
    register_report,
    register_tasks,
    register_train,
    register_experiment,
):
    register(app)

_UsageError = typer.BadParameter.__base__ or typer.BadParameter  # of all that is wrong with options and arguments
_MENDABLE = {
    errno.ENOSPC: "the disk is full; free some space and run the same command again",
    errno.EDQUOT: "your quota is used up; free some space and run the same command again",
    errno.EACCES: "no permission; choose a folder that you may write to",
    errno.EROFS: "the file system is read-only; choose a folder that you may write to",
}


def main() -> None:
    """Runs the command; what the user can mend is one line on the error output and exit code 2."""
    try:
        sys.exit(app(prog_name="icr2", standalone_mode=False))
    except _UsageError as error:
        if not error.format_message():  # nothing was asked, and the help is printed
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
    except OSError as error:
        if error.errno not in _MENDABLE:
            raise
        _stop(f"{error.filename or 'writing failed'}: {_MENDABLE[error.errno]}")
    except (KeyboardInterrupt, typer.Abort):
        Console(stderr=True).print("stopped; run the same command again to go on")
        sys.exit(130)


def _stop(message: str) -> None:
    Console(stderr=True, soft_wrap=True).print(f"error: {message}", markup=False, highlight=False)
    sys.exit(2)


if __name__ == "__main__":
    main()
