"""The commands `icr2 publish` and `icr2 diff`."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from builders.display import Terminal, say
from builders.errors import SetupError
from builders.options import option

if TYPE_CHECKING:
    from dataset_cards.hub import Repository
    from dataset_cards.release import Release


def register(app: typer.Typer) -> None:
    """Adds the commands to an app."""
    for command in (publish, diff):
        app.command()(command)


def publish(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Dataset folder, validated and with its card.")],
    repo: Annotated[str, typer.Option(metavar="OWNER/NAME", help="Dataset repository; created if missing.")],
    version: Annotated[str | None, typer.Option(help="Refuse unless the dataset has this version.")] = None,
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
    dry_run: Annotated[bool, option("dry_run", "Checks the dataset.", "--dry-run")] = False,
    endpoint: Annotated[str | None, typer.Option(metavar="URL", help="Hub address; default: HF_ENDPOINT.")] = None,
) -> None:
    """Publish a dataset on the Hub: one commit, one tag. Resumable: rerun after an interruption."""
    from dataset_cards.publish import publish as publish_release
    from dataset_cards.release import checked_release

    _show_progress_on_a_terminal()
    repository = _repository(repo, endpoint, needs_token=not dry_run)
    release = checked_release(folder, version, Terminal(stderr=True))
    if dry_run:
        _say_what_would_be_done(release, repository)
        return
    done = publish_release(release, repository, private)
    if not done.new_tag:
        say(f"{repo} already has {release.tag} with these bytes; nothing to do")
    url = f"{repository.api.endpoint}/datasets/{repo}"
    say(f"commit {url}/commit/{done.commit}{'' if done.new_commit else ' (existing)'}")
    say(f"tag {release.tag} {url}/tree/{release.tag}")
    first = next(iter(release.configs))
    say(f'load_dataset("{repo}", "{first}", revision="{release.tag}")')


def _show_progress_on_a_terminal() -> None:
    """Keeps the Hub client's progress bars, one per file, out of logs."""
    from huggingface_hub.utils import disable_progress_bars

    if not sys.stderr.isatty():
        disable_progress_bars()


def _repository(name: str, endpoint: str | None, needs_token: bool) -> "Repository":
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    from dataset_cards.hub import Repository

    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise SetupError(f"--repo {name}: {' '.join(str(error).split())}") from None
    if "/" not in name:
        raise SetupError(f"--repo {name}: include the owner, such as me/{name}")
    token = get_token()
    if needs_token and not token:
        raise SetupError("no token to publish with; set HF_TOKEN to one that may write, or run: hf auth login")
    return Repository(HfApi(endpoint=endpoint, token=token), name)


def _say_what_would_be_done(release: "Release", repository: "Repository") -> None:
    from dataset_cards.dry_run import remote_plan

    changes, note = remote_plan(release, repository)
    say(f"{release.name} {release.version} can be published: validated, {len(release.files) + 1} files checked")
    say(note)
    for path, content in changes.send.items():
        say(f"send {path} {content.size:,} bytes")
    for path in changes.delete:
        say(f"delete {path}")
    for config in changes.kept.names:
        say(f"keep config {config}")
    if not changes.empty:
        say(f"one commit: {len(changes.send)} files, {changes.size:,} bytes")
    say(f"tag {release.tag}; nothing was changed")


def diff(
    a: Annotated[str, typer.Argument(help="A dataset folder, or OWNER/NAME[@REVISION] on the Hub.")],
    b: Annotated[str, typer.Argument(help="The dataset to compare with.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with ids.")] = False,
) -> None:
    """Compare two datasets: configs, rows by id, and their fields."""
    from dataset_cards.diff import compare, lines_of

    _show_progress_on_a_terminal()
    difference = compare(a, b)
    if as_json:
        say(json.dumps(difference, indent=2, ensure_ascii=False))
    for line in () if as_json else lines_of(difference):
        say(line)
