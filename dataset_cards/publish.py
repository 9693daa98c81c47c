"""Publishing a release: large files first, then one commit, then one tag that never moves."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from builders.errors import SetupError
from dataset_cards.hub import Repository, State, patiently
from dataset_cards.merge import Kept, kept_configs, merged_card
from dataset_cards.release import Content, Release, content_of

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd
    from huggingface_hub.hf_api import RepoFile

BATCH = 2**30  # bytes per upload batch: the most that an interrupted run loses


class Plan(NamedTuple):
    """The changes of a commit to a repository, and what it keeps."""

    send: dict[str, Content]
    delete: list[str]
    kept: Kept

    @property
    def empty(self) -> bool:
        """Whether the repository already has the release."""
        return not self.send and not self.delete

    @property
    def size(self) -> int:
        """The size of the files to send, in bytes."""
        return sum(content.size for content in self.send.values())


class Published(NamedTuple):
    """The commit of a tag, and whether this run created it."""

    commit: str
    new_commit: bool
    new_tag: bool


def plan(release: Release, state: State | None, repo: str) -> Plan:
    """The changes that bring a repository (None: a new one) to a release, without what it already has."""
    if state is None:
        return Plan({**release.files, "README.md": content_of(release.card.encode())}, [], Kept([], [], {}))
    kept = kept_configs(state.card, release.configs, state.files, repo)
    files = {**release.files, "README.md": content_of(merged_card(release.card, kept).encode())}
    send = {path: content for path, content in files.items() if not _same(content, state.files.get(path))}
    others = {path for paths in kept.files.values() for path in paths}
    delete = [path for path in sorted(state.files) if _is_ours(path, release) and path not in files.keys() | others]
    return Plan(send, delete, kept)


def _same(content: Content, there: "RepoFile | None") -> bool:
    if there is None:
        return False
    if there.lfs is not None:
        return there.lfs.sha256 == content.sha256
    return there.size == content.size and there.blob_id == content.blob_id()


def _is_ours(path: str, release: Release) -> bool:
    """Whether a path is one that only a build of our configs writes: `{config}/*.parquet`."""
    folder, _, name = path.rpartition("/")
    return folder in release.configs and name.endswith(".parquet")


def check_kept(repository: Repository, state: State, kept: Kept, release: Release) -> None:
    """SetupError where kept configs have another Arrow schema: all files of a repository share one schema."""
    paths = [path for paths in kept.files.values() for path in paths]
    for path in paths:
        if not path.endswith(".parquet"):
            raise SetupError(f"{repository.name} has {path}, which is not Parquet; publish to another repository")
    schemas = patiently("reading the other configs", lambda: repository.schemas(state.commit, paths))
    for path, schema in schemas.items():
        if not schema.equals(release.schema):
            raise SetupError(f"{path} of {repository.name} has another schema; publish to another repository")


def publish(release: Release, repository: Repository, private: bool) -> Published:
    """Publishes a release on the Hub. Does nothing where its tag already has it.

    An interrupted run leaves no tag, and the next one resumes. SetupError where the tag has other bytes, or where the
    repository has files that conflict with the release.
    """
    _ensure(repository, private)
    tagged = tagged_commit(release, repository)
    if tagged:
        return Published(tagged, new_commit=False, new_tag=False)
    commit, made = patiently("sending files and committing", lambda: _commit(release, repository))
    patiently("tagging", lambda: _tag(release, repository, commit))
    return Published(commit, made, new_tag=True)


def _ensure(repository: Repository, private: bool) -> None:
    """Creates the repository if it does not exist."""
    api, name = repository
    patiently(
        f"creating {name}",
        lambda: api.create_repo(name, repo_type="dataset", private=private or None, exist_ok=True),
    )
    info = patiently(f"reading {name}", lambda: api.dataset_info(name))
    if private and not info.private:
        raise SetupError(f"{name} exists and is public; publish without --private, or make it private on the Hub first")


def tagged_commit(release: Release, repository: Repository) -> str | None:
    """The commit of the release's tag, None without the tag; SetupError where it has other bytes."""
    tag, name = release.tag, repository.name
    commit = patiently("reading the tags", lambda: repository.tagged(tag))
    if commit is None:
        return None
    state = patiently(f"reading {tag}", lambda: repository.state(commit))
    changes = plan(release, state, name)
    if not changes.empty:
        differing = [*changes.send, *changes.delete]
        raise SetupError(
            f"{name} has {tag} with other bytes ({len(differing)} files, such as {differing[0]}); a published version "
            "never changes: set a new version in the recipe and build again"
        )
    return commit


def _commit(release: Release, repository: Repository) -> tuple[str, bool]:
    """The commit of main with the release, and whether this run created it.

    It reads main first, so it can be retried: a commit whose response was lost is found there, and a concurrent commit
    becomes the parent.
    """
    from huggingface_hub import CommitOperationDelete

    state = repository.state()
    changes = plan(release, state, repository.name)
    if changes.empty:
        return state.commit, False
    check_kept(repository, state, changes.kept, release)
    additions = [_addition(path, content) for path, content in changes.send.items()]
    for batch in _batches(additions):
        repository.api.preupload_lfs_files(repository.name, batch, repo_type="dataset", free_memory=False)
    for addition in additions:
        # as read by the client for the upload, possibly hours after the check
        if addition.upload_info.sha256.hex() != changes.send[addition.path_in_repo].sha256:
            raise SetupError(f"{addition.path_in_repo} was changed during the upload; build the dataset again")
    made = repository.api.create_commit(
        repository.name,
        [*additions, *(CommitOperationDelete(path, is_folder=False) for path in changes.delete)],
        commit_message=f"{release.name} {release.version}",
        repo_type="dataset",
        parent_commit=state.commit,
    )
    return made.oid, True


def _addition(path: str, content: Content) -> "CommitOperationAdd":
    from huggingface_hub import CommitOperationAdd

    return CommitOperationAdd(path, str(content.source) if isinstance(content.source, Path) else content.source)


def _batches(additions: "list[CommitOperationAdd]") -> "Iterator[list[CommitOperationAdd]]":
    batch: list[CommitOperationAdd] = []
    size = 0
    for addition in additions:
        batch.append(addition)
        size += addition.upload_info.size
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _tag(release: Release, repository: Repository, commit: str) -> None:
    """Tags the commit, unless it already has the tag."""
    there = repository.tagged(release.tag)
    if there is None:
        repository.api.create_tag(repository.name, tag=release.tag, revision=commit, repo_type="dataset")
    elif there != commit:
        raise SetupError(f"{repository.name} meanwhile got {release.tag} at another commit; rerun the same command")
