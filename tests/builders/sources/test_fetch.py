"""Bundled, local and downloaded files; a download that was cut off goes on where it was."""

import hashlib
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from builders.config import Source
from builders.errors import SetupError
from builders.sources import fetch as fetching
from builders.sources.fetch import check_urls, digest_of_file, fetch, fetch_input, yet_to_download

CONTENT = bytes(range(256)) * 400


class Server(ThreadingHTTPServer):
    """Serves CONTENT; sends `allowed` bytes at most, then hangs up, as a broken connection does."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.allowed, self.tag = CONTENT, len(CONTENT), '"v1"'
        self.ranges: list[str | None] = []
        self.asked: list[tuple[str, str | None]] = []
        self.sent = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/data/file%20one.jsonl"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        wanted, server = self.headers.get("Range"), self.server
        server.ranges.append(wanted)
        server.asked.append((self.path, self.headers.get("Authorization")))
        if self.headers.get("If-None-Match") == server.tag:
            self.send_response(304)
            self.end_headers()
            return
        if "missing" in self.path:
            self.send_error(404)
            return
        same = self.headers.get("If-Range") == server.tag
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and same else 0
        if start >= len(server.content):
            self.send_error(416)
            return
        server.sent += 1
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(server.content) - start))
        self.send_header("ETag", server.tag)
        self.end_headers()
        self.wfile.write(server.content[start : start + server.allowed])

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def source(path: str, sha256: str | None = None) -> Source:
    return Source(reader="kilt", path=path, sha256=sha256)


def test_download_once(server: Server, tmp_path: Path):
    path = fetch(source(server.url, hashlib.sha256(CONTENT).hexdigest()), tmp_path, tmp_path)
    assert path.read_bytes() == CONTENT and path.name.endswith("-file one.jsonl")
    assert fetch(source(server.url), tmp_path, tmp_path) == path
    assert server.ranges == [None]
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_what_was_downloaded_is_not_yet_to_download(server: Server, tmp_path: Path):
    wanted = [source(server.url)]
    assert yet_to_download(wanted, tmp_path, tmp_path) == [server.url]
    assert server.ranges == []
    fetch(wanted[0], tmp_path, tmp_path)
    assert yet_to_download(wanted, tmp_path, tmp_path) == []


def test_interrupted_download_goes_on(server: Server, tmp_path: Path):
    server.allowed = 40_000
    path = fetch(source(server.url), tmp_path, tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=40000-", "bytes=80000-"]


def test_download_goes_on_in_the_next_run(server: Server, tmp_path: Path):
    server.allowed = 10_000
    with pytest.raises(SetupError, match="run the same command again"):
        fetch(source(server.url), tmp_path, tmp_path)
    server.allowed = len(CONTENT)
    assert fetch(source(server.url), tmp_path, tmp_path).read_bytes() == CONTENT
    assert server.ranges[-1] == "bytes=30000-"


def test_changed_file_is_begun_again(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fetching, "_TRIES", 1)
    server.allowed = 10_000
    with pytest.raises(SetupError):
        fetch(source(server.url), tmp_path, tmp_path)
    server.content, server.tag, server.allowed = CONTENT[::-1], '"v2"', len(CONTENT)
    assert fetch(source(server.url), tmp_path, tmp_path).read_bytes() == CONTENT[::-1]


def test_whole_partial_file_is_mended(server: Server, tmp_path: Path):
    path = fetch(source(server.url), tmp_path, tmp_path)
    partial = path.rename(f"{path}.partial")
    partial.with_name(f"{partial.name}.version").write_text(server.tag)
    assert fetch(source(server.url), tmp_path, tmp_path).read_bytes() == CONTENT


def test_missing_url(server: Server, tmp_path: Path):
    with pytest.raises(SetupError, match="HTTP 404"):
        fetch(source(f"{server.url}/missing"), tmp_path, tmp_path)


def test_no_server(tmp_path: Path):
    with Server() as closed:
        url = closed.url
    with pytest.raises(SetupError, match="cannot be downloaded"):
        fetch(source(url), tmp_path, tmp_path)


def test_checksum(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text("abc")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, example B.1
    assert fetch(source("a.jsonl", digest), tmp_path, tmp_path) == tmp_path / "a.jsonl"
    with pytest.raises(SetupError, match=f"has sha256 {digest}, expected {'0' * 64}"):
        fetch(source("a.jsonl", "0" * 64), tmp_path, tmp_path)


def test_local_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.jsonl").touch()
    for path in ("a.jsonl", str(tmp_path / "a.jsonl"), "~/a.jsonl"):
        assert fetch(source(path), tmp_path, tmp_path) == tmp_path / "a.jsonl"
    for path, message in {"b.jsonl": "is not there", ".": "is a folder", "bundled:nothing": "no bundled"}.items():
        with pytest.raises(SetupError, match=message):
            fetch(source(path), tmp_path, tmp_path)
    with pytest.raises(SetupError, match="has no path"):
        fetch(Source(reader="kilt"), tmp_path, tmp_path)


def test_bundled(tmp_path: Path):
    assert fetch(source("bundled:intros"), tmp_path, tmp_path).name == "summaries_en-us.json"


def test_a_file_edited_at_equal_size_and_time_has_another_digest(tmp_path: Path):
    """What is read is what is hashed, also where a recipe pins the digest."""
    path = tmp_path / "a"
    path.write_text("abc")
    pinned = source("a", hashlib.sha256(b"abc").hexdigest())
    before, read = path.stat(), fetch_input(pinned, tmp_path, tmp_path)
    assert read.sha256 == pinned.sha256 and digest_of_file(path) == pinned.sha256
    read.check()
    path.write_text("abd")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert digest_of_file(path) == hashlib.sha256(b"abd").hexdigest()
    with pytest.raises(SetupError, match="a changed while it was read"):
        read.check()
    for read_again in (fetch, fetch_input):
        with pytest.raises(SetupError, match=r"has sha256 .*, expected ba7816bf"):
            read_again(pinned, tmp_path, tmp_path)


def test_secrets_of_a_url_are_used_and_not_kept(server: Server, tmp_path: Path):
    """User, password and query reach the server; no name, file or line has them."""
    url = server.url.replace("http://", "http://me:pa%40ss@") + "?token=SECRET"
    path = fetch(source(url), tmp_path, tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.asked[-1] == ("/data/file%20one.jsonl?token=SECRET", "Basic bWU6cGFAc3M=")  # me:pa@ss
    kept = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert not [p for p in kept if "SECRET" in str(p) or b"SECRET" in p.read_bytes() or "pa" in p.name.split("-")[0]]
    assert path == fetch(source(server.url), tmp_path, tmp_path)
    for secret in (url, url.replace("file", "missing"), url.replace("http:", "https:")):
        with pytest.raises(SetupError) as error:
            fetch(source(secret, "0" * 64), tmp_path, tmp_path)
        assert not any(word in str(error.value) for word in ("SECRET", "token", "pa%40ss", "pa@ss", "me:"))
    assert yet_to_download([source(url.replace("data", "more"))], tmp_path, tmp_path) == [
        server.url.replace("data", "more")
    ]


def test_a_url_with_a_query_is_asked_again(server: Server, tmp_path: Path):
    """A new token finds the file that is there, and another file is not taken for it."""
    fetch(source(f"{server.url}?token=1"), tmp_path, tmp_path)
    fetch(source(f"{server.url}?token=2"), tmp_path, tmp_path)
    assert server.sent == 1
    server.content, server.tag = CONTENT[::-1], '"v2"'
    assert fetch(source(f"{server.url}?token=2"), tmp_path, tmp_path).read_bytes() == CONTENT[::-1]


def test_urls_that_differ_in_their_query_alone_are_refused():
    one, other = source("http://a/b?id=1"), source("http://a/b?id=2")
    check_urls({"x": one, "y": one})
    with pytest.raises(SetupError, match="y and x are http://a/b with other queries; download both"):
        check_urls({"x": one, "y": other})


@pytest.mark.parametrize("path", ["x" * 5000, "x/" * 4000, "~nouser-here/x", "http://[x/", "http://a b/", "a\0b"])
def test_a_path_that_no_file_can_have(tmp_path: Path, path: str):
    with pytest.raises(SetupError) as error:
        fetch(source(path), tmp_path, tmp_path)
    assert len(str(error.value)) < 600 and "\n" not in str(error.value)


def test_what_is_yet_to_download_is_told_without_a_request(tmp_path: Path):
    (tmp_path / "here").write_text("abc")
    here, far = Source(reader="kilt", path="here"), Source(reader="kilt", path="http://127.0.0.1:9/far.jsonl")
    assert yet_to_download([here, far], tmp_path, tmp_path / "cache") == ["http://127.0.0.1:9/far.jsonl"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["here"]
    for source in (Source(reader="kilt"), Source(reader="kilt", path="nowhere")):
        with pytest.raises(SetupError):
            yet_to_download([far, source], tmp_path, tmp_path / "cache")
