"""What a Hub keeps: repositories with commits, tags and large files, all in memory."""

import base64
import hashlib
import threading
from dataclasses import dataclass, field
from typing import Any

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {size}\n"
LARGE = (".parquet", ".png", ".arrow")


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


@dataclass(frozen=True)
class File:
    """A file of a commit; `lfs` is the sha256 of a large one."""

    content: bytes
    lfs: str | None = None

    @property
    def blob_id(self) -> str:
        """The git object id; that of the pointer for a large file."""
        data = POINTER.format(oid=self.lfs, size=len(self.content)).encode() if self.lfs else self.content
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()

    def described(self, path: str) -> dict[str, Any]:
        """The file as the tree lists it."""
        about: dict[str, Any] = {"type": "file", "path": path, "size": len(self.content), "oid": self.blob_id}
        if self.lfs:
            about["lfs"] = {"oid": self.lfs, "size": len(self.content), "pointerSize": 130}
        return about


@dataclass(frozen=True)
class Commit:
    """A state of all files."""

    oid: str
    parent: str | None
    title: str
    files: dict[str, File]


@dataclass
class Repo:
    """A dataset repository with one branch, `main`."""

    name: str
    private: bool
    commits: dict[str, Commit] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    head: str = ""

    def add_commit(self, title: str, files: dict[str, File]) -> Commit:
        """A new commit at the head of main."""
        text = f"{self.name} {len(self.commits)} {title} {[(p, f.blob_id) for p, f in sorted(files.items())]}"
        commit = Commit(hashlib.sha1(text.encode()).hexdigest(), self.head or None, title, files)
        self.commits[commit.oid] = commit
        self.head = commit.oid
        return commit

    def at(self, revision: str) -> Commit:
        """The commit of a branch, tag or commit id."""
        names = {"main": self.head, "refs/heads/main": self.head, **self.tags}
        oid = names.get(revision.removeprefix("refs/tags/"), revision)
        if oid not in self.commits:
            raise Refused(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return self.commits[oid]

    def write(self, path: str, content: bytes, title: str = "another commit") -> Commit:
        """A commit by someone else that writes one file."""
        lfs = hashlib.sha256(content).hexdigest() if path.endswith(LARGE) else None
        return self.add_commit(title, {**self.commits[self.head].files, path: File(content, lfs)})


class Hub:
    """All repositories and the store of large files, which they share."""

    def __init__(self, tokens: dict[str, str]) -> None:
        self.tokens = tokens  # token -> "write" or "read"
        self.repos: dict[str, Repo] = {}
        self.large: dict[str, bytes] = {}
        self.parts: dict[str, dict[int, bytes]] = {}
        self._committing = threading.Lock()

    def repo(self, name: str, may_read_private: bool) -> Repo:
        """A repository by its name; an invisible one counts as missing."""
        repo = self.repos.get(name)
        if repo is None or (repo.private and not may_read_private):
            raise Refused(404, "Repository not found", "RepoNotFound")
        return repo

    def create(self, name: str, private: bool) -> Repo:
        """A new repository with its first commit."""
        repo = self.repos[name] = Repo(name, private)
        repo.add_commit("initial commit", {".gitattributes": File(b"*.parquet filter=lfs diff=lfs merge=lfs -text\n")})
        return repo

    def store(self, oid: str, content: bytes) -> None:
        """Stores a large file if its bytes match its id."""
        if hashlib.sha256(content).hexdigest() != oid:
            raise Refused(400, "the content is not that of its oid")
        self.large[oid] = content

    def commit(self, repo: Repo, lines: list[dict[str, Any]]) -> Commit:
        """A commit from the lines of a request; refused where main has moved on."""
        header, *operations = lines
        parent = header["value"].get("parentCommit")
        with self._committing:
            if parent and parent != repo.head:
                raise Refused(412, "A commit has happened since. Please refresh and try again.")
            files = dict(repo.commits[repo.head].files)
            for operation in operations:
                self._apply(files, operation["key"], operation["value"])
            return repo.add_commit(header["value"]["summary"], files)

    def _apply(self, files: dict[str, File], key: str, value: dict[str, Any]) -> None:
        path = value["path"]
        if key == "file":
            files[path] = File(base64.b64decode(value["content"]))
        elif key == "lfsFile":
            if value["oid"] not in self.large:
                raise Refused(400, f"LFS pointer pointed to a file that does not exist: {path}")
            files[path] = File(self.large[value["oid"]], value["oid"])
        elif key == "deletedFile":
            if path not in files:
                raise Refused(404, "A file with this name doesn't exist", "EntryNotFound")
            del files[path]
        elif key == "deletedFolder":
            for name in [name for name in files if name.startswith(path.rstrip("/") + "/")]:
                del files[name]
        else:
            raise Refused(400, f"unknown operation {key}")
