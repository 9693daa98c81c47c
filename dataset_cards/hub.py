"""A dataset repository on the Hub: its content, and calls with retries."""

import logging
import re
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import pyarrow as pa

from builders.errors import SetupError, shown
from builders.hub import misread

if TYPE_CHECKING:
    from huggingface_hub import HfApi, HfFileSystem
    from huggingface_hub.hf_api import RepoFile

WAITS = (1, 2, 4, 8, 16)  # seconds before each retry
LONGEST_WAIT = 300  # the Hub counts requests in windows of five minutes

Result = TypeVar("Result")
_log = logging.getLogger(__name__)


class State(NamedTuple):
    """A commit of a repository: its id, its files by path, and its card."""

    commit: str
    files: "dict[str, RepoFile]"
    card: str
    private: bool


class Repository(NamedTuple):
    """A dataset repository, by name, and its client."""

    api: "HfApi"
    name: str

    def state(self, revision: str = "main") -> State:
        """The repository at a revision; RepositoryNotFoundError or RevisionNotFoundError of the client."""
        from huggingface_hub.hf_api import RepoFile

        info = self.api.dataset_info(self.name, revision=revision)
        commit = str(info.sha)
        tree = self.api.list_repo_tree(self.name, recursive=True, revision=commit, repo_type="dataset")
        listed = [file for file in tree if isinstance(file, RepoFile)]
        if not all(isinstance(file.path, str) for file in listed):
            raise ValueError("the Hub's reply lists a file whose path is no text")
        files = {file.path: file for file in listed}
        card = self._files().cat_file(self._place(commit, "README.md")).decode() if "README.md" in files else ""
        return State(commit, files, card, bool(info.private))

    def state_if_any(self) -> State | None:
        """The repository at main; None if it does not exist."""
        from huggingface_hub.errors import RepositoryNotFoundError

        try:
            return self.state()
        except RepositoryNotFoundError:
            return None

    def tagged(self, tag: str) -> str | None:
        """The commit of a tag; None without the tag."""
        refs = self.api.list_repo_refs(self.name, repo_type="dataset")
        if tag not in (ref.name for ref in refs.tags):
            return None
        return str(self.api.dataset_info(self.name, revision=tag).sha)

    def schemas(self, commit: str, paths: Iterable[str]) -> dict[str, pa.Schema]:
        """The Arrow schema of each Parquet file; only the footers are read."""
        from concurrent.futures import ThreadPoolExecutor

        import pyarrow.parquet as pq

        files, paths = self._files(), list(paths)

        def schema(path: str) -> pa.Schema:
            with files.open(self._place(commit, path), "rb") as file:
                return pq.read_schema(file)

        with ThreadPoolExecutor(8) as pool:
            return dict(zip(paths, pool.map(schema, paths), strict=True))

    def _files(self) -> "HfFileSystem":
        from huggingface_hub import HfFileSystem

        return HfFileSystem(endpoint=self.api.endpoint, token=self.api.token)

    def _place(self, commit: str, path: str) -> str:
        return f"datasets/{self.name}@{commit}/{path}"


class Unreachable(SetupError):
    """The Hub does not answer."""


def patiently(doing: str, action: Callable[[], Result], waits: tuple[int, ...] = WAITS) -> Result:
    """The result of `action`, retried while the Hub is unreachable, busy, or has changed since it was read.

    SetupError names the action that the Hub refuses; Unreachable after the last retry.
    """
    from httpx2 import TransportError
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    tries = iter(waits)
    while True:
        try:
            return action()
        except OfflineModeIsEnabled:
            raise Unreachable(f"{doing}: HF_HUB_OFFLINE is set; unset it and run the same command again") from None
        except (HfHubHTTPError, TransportError, ConnectionError, TimeoutError, RuntimeError, ValueError) as error:
            # the client wraps errors of its upload threads, and Xet raises its own RuntimeError
            cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error
            status = cause.response.status_code if isinstance(cause, HfHubHTTPError) else None
            if isinstance(cause, ValueError) or (status is not None and not _passing(status)):
                raise _refusal(doing, status, cause) from None
            wait = next(tries, None)
            if wait is None:
                raise _gave_up(doing, cause) from None
            _log.warning("%s: %s; retrying", doing, _one_line(cause))
            time.sleep(_wait_asked_for(cause) or wait)
        except Exception as error:
            if not misread(error):
                raise
            reason = f"{type(error).__name__}: {shown(str(error))}"
            raise SetupError(
                f"{doing}: the Hub's reply is not what its client expects ({reason}); check --endpoint and HF_ENDPOINT"
            ) from None


def _passing(status: int) -> bool:
    """Whether a retry may succeed: 409 and 412 mean a concurrent commit or tag."""
    return status in (408, 409, 412, 429) or status >= 500


def _wait_asked_for(error: BaseException) -> int:
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.utils import parse_ratelimit_headers

    if not isinstance(error, HfHubHTTPError):
        return 0
    limit = parse_ratelimit_headers(error.response.headers)
    return min(limit.reset_in_seconds + 1, LONGEST_WAIT) if limit and not limit.remaining else 0


def _refusal(doing: str, status: int | None, error: BaseException) -> SetupError:
    reasons = {
        401: "the Hub rejects the token (401); set HF_TOKEN, or run: hf auth login",
        403: "the token lacks permission (403); use one that may write to the repository",
        404: "no such dataset or revision, or the token cannot see it (404)",
    }
    return SetupError(f"{doing}: {reasons.get(status or 0, _one_line(error))}")


def _gave_up(doing: str, error: BaseException) -> Unreachable:
    xet = "; for a Hub without Xet set HF_HUB_DISABLE_XET=1" if "xet-write-token" in str(error) else ""
    again = "uploaded files are kept, rerun the same command to resume"
    return Unreachable(f"{doing}: the Hub does not answer ({_one_line(error)}); {again}{xet}")


def _one_line(error: BaseException) -> str:
    """An error on one line, without the query strings of URLs, which may be signed."""
    text = re.sub(r"(https?://[^\s'?]*)\?[^\s']*", r"\1", " ".join(str(error).split()))
    return text[:300] or type(error).__name__
