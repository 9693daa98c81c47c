"""Files of a dataset repository on the Hub."""

from collections.abc import Sequence
from pathlib import Path

from builders.hub import from_hub


def fetch(repository: str, revision: str | None, files: Sequence[str]) -> Path:
    """The folder with a repository's files that match `files`, downloaded if needed; it is named after a commit.

    Without a network, the cached download is used. SetupError if the Hub does not serve them.
    """
    from huggingface_hub import snapshot_download

    def get(name: str, at: str | None) -> str:
        return snapshot_download(name, repo_type="dataset", revision=at, allow_patterns=list(files))

    spec = repository if revision is None else f"{repository}@{revision}"
    return from_hub("dataset", spec, "folder", get)
