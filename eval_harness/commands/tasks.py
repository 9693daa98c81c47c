"""`icr2 tasks`."""

from pathlib import Path
from typing import Annotated

import typer

from builders.display import say
from builders.errors import SetupError


def register(app: typer.Typer) -> None:
    """Mounts the command on `app`."""
    app.command("tasks")(tasks)


def tasks(
    dataset: Annotated[
        str | None, typer.Argument(metavar="DIR|REPO", help="Dataset folder, or dataset repository on the Hub.")
    ] = None,
    write: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder to write the task files to.")] = None,
    path: Annotated[
        str | None, typer.Option(help="Path of the dataset in the files. Default: its absolute path.")
    ] = None,
    revision: Annotated[
        str | None, typer.Option(help="Tag or commit of the repository. Default: the newest commit.")
    ] = None,
) -> None:
    """Print the folder of the demo's lm-eval task files, or write those of another dataset to FOLDER."""
    if dataset is None and write is None:
        from eval_harness.lm_eval.demo import demo_tasks

        say(demo_tasks())
        return
    if dataset is None or write is None:
        raise SetupError("give both a dataset and a folder for its task files: icr2 tasks DIR --write FOLDER")
    from builders.manifest import read_manifest
    from eval_harness.lm_eval.hub import fetch
    from eval_harness.lm_eval.write import source_of, write_tasks

    if Path(dataset).is_dir():
        if revision is not None:
            raise SetupError(f"{dataset} is a local folder, which has no revisions; leave out --revision")
        source = source_of(read_manifest(Path(dataset)), path or str(Path(dataset).resolve()))
    else:
        at = fetch(dataset, revision, ["manifest.json"])
        source = source_of(read_manifest(at), dataset, revision or at.name)
    say(f"wrote {write_tasks(source, write)} files for {len(source.configs)} configs to {write}")
