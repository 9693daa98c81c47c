"""Files of a dataset repository on the Hub."""

from collections.abc import Sequence
from pathlib import Path

from builders.hub import from_hub


def fetch(repository: str, revision: str | None, files: Sequence[str]) -> Path:
    """The folder that holds the files of a repository that match `files`, downloaded if needed; its name is a commit.

    Without a network it is what was fetched before. SetupError where the Hub does not give them.
    """
    from huggingface_hub import snapshot_download

    def get(name: str, at: str | None) -> str:
        return snapshot_download(name, repo_type="dataset", revision=at, allow_patterns=list(files))

    spec = repository if revision is None else f"{repository}@{revision}"
    return from_hub("dataset", spec, "folder", get)
