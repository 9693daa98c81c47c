"""Brings a source's file to this machine and checks it."""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Mapping
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import Request, urlopen

from builders.bundled import bundled_file
from builders.config import Source
from builders.errors import SetupError, without_secrets
from builders.files import expanded, is_file, is_folder
from builders.work import Input, state_of

_BLOCK = 1 << 20  # bytes
_TRIES = 3
_TIMEOUT = 60  # seconds without a byte


def fetch(source: Source, base: Path, cache: Path) -> Path:
    """The local file of a source: bundled, local (relative to `base`) or downloaded into `cache`.

    SetupError where it is missing, cannot be downloaded, or has another sha256 than the source says.
    """
    path = _located(_path_of(source), base, cache)
    if source.sha256:
        _check_digest(path, digest_of_file(path), source.sha256)
    return path


def fetch_input(source: Source, base: Path, cache: Path) -> Input:
    """The local file of a source, as `fetch` gives it, with its digest and the state in which it was read."""
    path = _located(_path_of(source), base, cache)
    state = state_of(path)
    read = Input(source, path, digest_of_file(path), state)
    read.check()
    if source.sha256:
        _check_digest(path, read.sha256, source.sha256)
    return read


def check_urls(sources: Mapping[str, Source]) -> None:
    """SetupError where two sources have URLs that differ in their query alone, since no query is kept."""
    seen: dict[str, tuple[str, str]] = {}
    for place, source in sources.items():
        if source.path and is_url(source.path):
            plain = plain_url(source.path)
            other, full = seen.setdefault(plain, (place, source.path))
            if full != source.path:
                raise SetupError(f"{place} and {other} are {plain} with other queries; download both, and give paths")


def yet_to_download(sources: Iterable[Source], base: Path, cache: Path) -> list[str]:
    """The URLs that `fetch` would download, without secrets; SetupError for a source that is neither URL nor file."""
    urls = []
    for source in sources:
        if source.path and is_url(source.path):
            if not _target(source.path, cache / "downloads").exists():
                urls.append(plain_url(source.path))
        else:
            _located(_path_of(source), base, cache)
    return urls


def digest_of_file(path: Path) -> str:
    """The sha256 of a file as 64 hexadecimal digits; the file is read each time."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_digest(path: Path, found: str, wanted: str) -> None:
    if found != wanted.lower():
        raise SetupError(f"{path} has sha256 {found}, expected {wanted}; delete it and get it again")


def _path_of(source: Source) -> str:
    if not source.path:
        raise SetupError(f"a source for reader {source.reader!r} has no path; set it in the recipe or with --set")
    return source.path


def is_url(where: str) -> bool:
    """Whether a source's path is an http(s) URL."""
    return where.startswith(("http://", "https://"))


def plain_url(url: str) -> str:
    """A URL without user, password, query and fragment: the form in which it is shown and names a file."""
    parts = _split(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise SetupError(f"{url} is not a URL; correct the path in the recipe or with --set") from None


def _located(where: str, base: Path, cache: Path) -> Path:
    if where.startswith("bundled:"):
        return bundled_file(where.removeprefix("bundled:"))
    if is_url(where):
        return _downloaded(where, cache / "downloads")
    path = base / expanded(where)
    if not is_file(path):
        what = "is a folder" if is_folder(path) else "is not there"
        raise SetupError(f"{path} {what}; wanted a file: correct the path in the recipe or with --set")
    return path


def _downloaded(url: str, folder: Path) -> Path:
    """The file at a URL, downloaded once; a download that was cut off is resumed.

    For a URL with a query the server is asked whether the file has changed, since no query is kept.
    """
    plain, target = plain_url(url), _target(url, folder)
    if target.exists() and (not _split(url).query or _is_current(url, target)):
        return target
    folder.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.partial")
    reason = ""
    for _ in range(_TRIES):
        try:
            if _continue(url, partial):
                partial.replace(target)
                _finish(_version_of(partial), _version_of(target) if _split(url).query else None)
                return target
            reason = "the connection ended early"
        except HTTPError as error:
            reason = f"HTTP {error.code} {error.reason}"
            if error.code == 416:  # what was kept is as long as the file, or longer: start over
                partial.unlink(missing_ok=True)
            elif error.code < 500:
                raise SetupError(f"{plain} cannot be downloaded: {reason}; check the URL") from None
        except (OSError, HTTPException, ValueError) as error:
            reason = without_secrets(str(error)) if isinstance(error, OSError) else type(error).__name__
    raise SetupError(f"{plain} cannot be downloaded: {reason}; run the same command again to resume")


def _finish(version: Path, kept: Path | None) -> None:
    if kept and version.exists():
        version.replace(kept)
    else:
        version.unlink(missing_ok=True)


def _is_current(url: str, target: Path) -> bool:
    """Whether the server says that a downloaded file is still the one at the URL."""
    version = _version_of(target)
    if not version.exists():
        return False
    mark = version.read_text(encoding="utf-8")
    request = _request(url, {"If-None-Match" if mark.startswith('"') else "If-Modified-Since": mark})
    try:
        with urlopen(request, timeout=_TIMEOUT):
            return False
    except HTTPError as error:
        return error.code == 304
    except (OSError, HTTPException, ValueError):
        return False


def _target(url: str, folder: Path) -> Path:
    plain = plain_url(url)
    name = (unquote(Path(urlsplit(plain).path).name) or "file").replace("\0", "")[-100:]
    return folder / f"{hashlib.sha256(plain.encode(errors='replace')).hexdigest()[:12]}-{Path(name).name}"


def _request(url: str, headers: dict[str, str]) -> Request:
    """A request whose user and password are in a header, which a redirect does not take along."""
    parts = _split(url)
    user, at, host = parts.netloc.rpartition("@")
    request = Request(parts._replace(netloc=host, fragment="").geturl(), headers={"User-Agent": "icr2", **headers})
    if at:
        word = b64encode(unquote(user).encode()).decode()
        request.add_unredirected_header("Authorization", f"Basic {word}")
    return request


def _continue(url: str, partial: Path) -> bool:
    """Downloads what is missing of a file; whether it is now whole.

    The rest is asked for only if the server says that the file is still the version that was begun.
    """
    version = _version_of(partial)
    begun = partial.stat().st_size if partial.exists() and version.exists() else 0
    headers = {}
    if begun:
        headers = {"Range": f"bytes={begun}-", "If-Range": version.read_text(encoding="utf-8")}
    response: HTTPResponse
    with urlopen(_request(url, headers), timeout=_TIMEOUT) as response:
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
