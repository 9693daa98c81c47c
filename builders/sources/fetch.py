"""Brings a source's file to this machine and checks it."""

import hashlib
import json
from collections.abc import Iterable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from builders.bundled import bundled_file
from builders.config import Source
from builders.errors import SetupError
from builders.files import write_json

_BLOCK = 1 << 20  # bytes
_TRIES = 3
_TIMEOUT = 60  # seconds without a byte


def fetch(source: Source, base: Path, cache: Path) -> Path:
    """The local file of a source: bundled, local (relative to `base`) or downloaded into `cache`.

    SetupError where it is not there, cannot be downloaded, or has another sha256 than the source says.
    """
    path = _located(_path_of(source), base, cache)
    if source.sha256 and (found := digest_of_file(path, cache)) != source.sha256.lower():
        raise SetupError(f"{path} has sha256 {found}, expected {source.sha256}; delete it and get it again")
    return path


def yet_to_download(sources: Iterable[Source], base: Path, cache: Path) -> list[str]:
    """The URLs that `fetch` would download; SetupError where a source is neither that nor there."""
    urls = []
    for source in sources:
        if source.path and _is_url(source.path) and not _target(source.path, cache / "downloads").exists():
            urls.append(source.path)
        else:
            _located(_path_of(source), base, cache)
    return urls


def _path_of(source: Source) -> str:
    if not source.path:
        raise SetupError(f"a source for reader {source.reader!r} has no path; set it in the recipe or with --set")
    return source.path


def _is_url(where: str) -> bool:
    return where.startswith(("http://", "https://"))


def _located(where: str, base: Path, cache: Path) -> Path:
    if where.startswith("bundled:"):
        return bundled_file(where.removeprefix("bundled:"))
    if _is_url(where):
        return _downloaded(where, cache / "downloads")
    path = base / Path(where).expanduser()
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not there"
        raise SetupError(f"{path} {what}; wanted a file: correct the path in the recipe or with --set")
    return path


def digest_of_file(path: Path, cache: Path) -> str:
    """The sha256 of a file as 64 hexadecimal digits, remembered in `cache` until its size or time changes."""
    kept = cache / "digests.json"
    stat = path.stat()
    state = [stat.st_size, stat.st_mtime_ns]
    name = str(path.absolute())
    digests = _digests(kept)
    if name not in digests or digests[name][:2] != state:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        digests = _digests(kept)  # another process may have added to it meanwhile
        digests[name] = [*state, digest]
        write_json(kept, digests)
    return digests[name][2]


def _digests(kept: Path) -> dict[str, list]:
    try:
        return json.loads(kept.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}


def _downloaded(url: str, folder: Path) -> Path:
    """The file at a URL, downloaded once; a download that was cut off goes on where it was."""
    target = _target(url, folder)
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.partial")
    reason = ""
    for _ in range(_TRIES):
        try:
            if _continue(url, partial):
                partial.replace(target)
                _version_of(partial).unlink(missing_ok=True)
                return target
            reason = "the connection ended early"
        except HTTPError as error:
            reason = f"HTTP {error.code} {error.reason}"
            if error.code == 416:  # what was kept is as long as the file, or longer: begin again
                partial.unlink(missing_ok=True)
            elif error.code < 500:
                raise SetupError(f"{url} cannot be downloaded: {reason}; check the URL") from None
        except (OSError, HTTPException) as error:
            reason = str(error) or type(error).__name__
    raise SetupError(f"{url} cannot be downloaded: {reason}; run the same command again to go on where it stopped")


def _target(url: str, folder: Path) -> Path:
    name = unquote(Path(urlsplit(url).path).name) or "file"
    return folder / f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{Path(name).name}"


def _continue(url: str, partial: Path) -> bool:
    """Downloads what is missing of a file; whether it is now whole.

    The rest is asked for only if the server says that the file is still the version that was begun.
    """
    version = _version_of(partial)
    begun = partial.stat().st_size if partial.exists() and version.exists() else 0
    headers = {"User-Agent": "icr2"}
    if begun:
        headers |= {"Range": f"bytes={begun}-", "If-Range": version.read_text(encoding="utf-8")}
    response: HTTPResponse
    with urlopen(Request(url, headers=headers), timeout=_TIMEOUT) as response:
        if response.status != 206:
            begun = 0
            _write_version(version, response)
        length = response.headers.get("Content-Length")
        with partial.open("ab" if begun else "wb") as file:
            while block := response.read(_BLOCK):
                file.write(block)
    return length is None or partial.stat().st_size == begun + int(length)


def _write_version(version: Path, response: HTTPResponse) -> None:
    """Keeps what tells the server's versions of a file apart; without it, a download cannot go on."""
    tag = response.headers.get("ETag", "")
    mark = tag if tag.startswith('"') else response.headers.get("Last-Modified")
    if mark:
        version.write_text(mark, encoding="utf-8")
    else:
        version.unlink(missing_ok=True)


def _version_of(partial: Path) -> Path:
    return partial.with_name(f"{partial.name}.version")
