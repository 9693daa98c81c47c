"""What the Hub answers to each call of its API."""

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, urlencode

import yaml

from tests.hub.state import LARGE, Refused, Repo

if TYPE_CHECKING:
    from tests.hub.server import LoopbackHub


class Call(NamedTuple):
    """A request, taken apart."""

    method: str
    path: str
    query: dict[str, str]
    body: bytes
    headers: dict[str, str]
    token: str

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Answer(NamedTuple):
    """A response."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = MappingProxyType({})


def answer(hub: "LoopbackHub", call: Call) -> Answer:
    """The answer to a call; Refused where it is an error."""
    for pattern, route in _ROUTES:
        match = re.fullmatch(pattern, f"{call.method} {call.path}")
        if match:
            if call.token and call.token not in hub.state.tokens:
                raise Refused(401, "Invalid credentials in Authorization header")
            return route(hub, call, *match.groups())
    raise Refused(404, "Not Found")


def _json(value: Any, **headers: str) -> Answer:
    return Answer(json.dumps(value).encode(), headers=headers)


def _may_write(hub: "LoopbackHub", call: Call) -> None:
    if not call.token:
        raise Refused(401, "Invalid username or password.")
    if hub.state.tokens[call.token] != "write":
        raise Refused(403, "you don't have the rights to write here")


def _readable(hub: "LoopbackHub", call: Call, name: str) -> Repo:
    return hub.state.repo(name, call.token in hub.state.tokens)


def _writable(hub: "LoopbackHub", call: Call, name: str) -> Repo:
    _may_write(hub, call)
    return _readable(hub, call, name)


def _whoami(hub: "LoopbackHub", call: Call) -> Answer:
    if not call.token:
        raise Refused(401, "Invalid username or password.")
    return _json({"type": "user", "name": "me", "auth": {"accessToken": {"role": hub.state.tokens[call.token]}}})


def _create(hub: "LoopbackHub", call: Call) -> Answer:
    _may_write(hub, call)
    wanted = call.json()
    name = f"{wanted.get('organization') or 'me'}/{wanted['name']}"
    about = {"url": f"{hub.url}/datasets/{name}", "name": name}
    if name in hub.state.repos:
        return Answer(json.dumps({**about, "error": "You already created this dataset repo"}).encode(), 409)
    hub.state.create(name, private=wanted.get("visibility") == "private")
    return _json(about)


def _validate_yaml(hub: "LoopbackHub", call: Call) -> Answer:
    head = re.match(r"---\n(.*?)^---$", call.json()["content"], re.M | re.S)
    if head is None:
        return _json({"errors": [], "warnings": [{"message": "empty or missing yaml metadata in repo card"}]})
    try:
        yaml.safe_load(head[1])
    except yaml.YAMLError as error:
        return Answer(json.dumps({"errors": [{"message": str(error)}]}).encode(), 400)
    return _json({"errors": [], "warnings": []})


def _info(hub: "LoopbackHub", call: Call, name: str, revision: str | None) -> Answer:
    repo = _readable(hub, call, name)
    commit = repo.at(revision or "main")
    return _json(
        {
            "_id": name,
            "id": name,
            "author": name.split("/")[0],
            "sha": commit.oid,
            "private": repo.private,
            "gated": False,
            "disabled": False,
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "siblings": [{"rfilename": path} for path in sorted(commit.files)],
        }
    )


def _tree(hub: "LoopbackHub", call: Call, name: str, revision: str, folder: str | None) -> Answer:
    files = _readable(hub, call, name).at(revision).files
    prefix = f"{folder}/" if folder else ""
    entries = {path: file.described(path) for path, file in files.items() if path.startswith(prefix)}
    if folder and not entries:
        raise Refused(404, f"{folder} does not exist", "EntryNotFound")
    folders = {"/".join(path.split("/")[:n]) for path in entries for n in range(1, path.count("/") + 1)}
    entries |= {path: _folder(path) for path in folders if path.startswith(prefix)}
    if call.query.get("recursive", "").lower() != "true":
        entries = {path: entry for path, entry in entries.items() if "/" not in path[len(prefix) :]}
    start = int(call.query.get("cursor", 0))
    page = [entries[path] for path in sorted(entries)[start : start + hub.page_size]]
    more = start + hub.page_size < len(entries)
    following = urlencode({**call.query, "cursor": start + hub.page_size})
    return _json(page, **({"Link": f'<{hub.url}{call.path}?{following}>; rel="next"'} if more else {}))


def _folder(path: str) -> dict[str, str | int]:
    return {"type": "directory", "path": path, "oid": "0" * 40, "size": 0}


def _paths_info(hub: "LoopbackHub", call: Call, name: str, revision: str) -> Answer:
    commit = _readable(hub, call, name).at(revision)
    found: list[dict[str, Any]] = []
    for path in parse_qs(call.body.decode()).get("paths", []):
        if path in commit.files:
            found.append(commit.files[path].described(path))
        elif any(other.startswith(f"{path}/") for other in commit.files):
            found.append(_folder(path))
    if call.query.get("expand") or "expand=True" in call.body.decode():
        last = {"id": commit.oid, "title": commit.title, "date": "2026-01-01T00:00:00.000Z"}
        found = [{**entry, "lastCommit": last} for entry in found]
    return _json(found)


def _refs(hub: "LoopbackHub", call: Call, name: str) -> Answer:
    repo = _readable(hub, call, name)
    tags = [{"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": oid} for tag, oid in repo.tags.items()]
    main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repo.head}
    return _json({"branches": [main], "tags": tags, "converts": []})


def _preupload(hub: "LoopbackHub", call: Call, name: str, revision: str) -> Answer:
    files = _writable(hub, call, name).at(revision).files
    modes = []
    for file in call.json()["files"]:
        there = files.get(file["path"])
        mode = "lfs" if file["path"].endswith(LARGE) else "regular"
        oid = there and (there.lfs or there.blob_id)
        modes.append({"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid})
    return _json({"files": modes})


def _batch(hub: "LoopbackHub", call: Call, name: str) -> Answer:
    _writable(hub, call, name)
    objects = []
    for wanted in call.json()["objects"]:
        described = {"oid": wanted["oid"], "size": wanted["size"]}
        if wanted["oid"] not in hub.state.large:
            described["actions"] = _upload_actions(hub, name, wanted)
        objects.append(described)
    return _json({"transfer": "multipart" if hub.part_size else "basic", "objects": objects})


def _upload_actions(hub: "LoopbackHub", name: str, wanted: dict[str, Any]) -> dict[str, Any]:
    verify = {"href": f"{hub.url}/datasets/{name}.git/info/lfs/verify"}
    if hub.part_size and wanted["size"] > hub.part_size:
        parts = -(-wanted["size"] // hub.part_size)
        urls = {f"{n:05d}": f"{hub.url}/large/{wanted['oid']}/{n}" for n in range(1, parts + 1)}
        header = {"chunk_size": str(hub.part_size), **urls}
        return {"upload": {"href": f"{hub.url}/large/{wanted['oid']}/complete", "header": header}, "verify": verify}
    return {"upload": {"href": f"{hub.url}/large/{wanted['oid']}"}, "verify": verify}


def _put(hub: "LoopbackHub", call: Call, oid: str, part: str | None) -> Answer:
    if part is None:
        hub.state.store(oid, call.body)
    else:
        hub.state.parts.setdefault(oid, {})[int(part)] = call.body
    return Answer(b"", headers={"ETag": f'"{part or oid}"'})


def _complete(hub: "LoopbackHub", call: Call, oid: str) -> Answer:
    parts = hub.state.parts.pop(oid)
    hub.state.store(oid, b"".join(parts[item["partNumber"]] for item in call.json()["parts"]))
    return _json({})


def _verify(hub: "LoopbackHub", call: Call, name: str) -> Answer:
    _writable(hub, call, name)
    wanted = call.json()
    if len(hub.state.large.get(wanted["oid"], b"")) != wanted["size"]:
        raise Refused(404, "the object is not there")
    return _json({})


def _commit(hub: "LoopbackHub", call: Call, name: str, revision: str) -> Answer:
    repo = _writable(hub, call, name)
    commit = hub.state.commit(repo, [json.loads(line) for line in call.body.splitlines()])
    url = f"{hub.url}/datasets/{name}/commit/{commit.oid}"
    return _json({"success": True, "commitOid": commit.oid, "commitUrl": url, "hookOutput": ""})


def _tag(hub: "LoopbackHub", call: Call, name: str, revision: str) -> Answer:
    repo = _writable(hub, call, name)
    tag = call.json()["tag"]
    if tag in repo.tags:
        raise Refused(409, f"Tag {tag} already exists")
    repo.tags[tag] = repo.at(revision).oid
    return _json({})


def _untag(hub: "LoopbackHub", call: Call, name: str, tag: str) -> Answer:
    if _writable(hub, call, name).tags.pop(tag, None) is None:
        raise Refused(404, f"no tag {tag}", "RevisionNotFound")
    return _json({})


def _resolve(hub: "LoopbackHub", call: Call, name: str, rest: str) -> Answer:
    repo = _readable(hub, call, name)
    revision, _, path = rest.removeprefix("refs/tags/").partition("/")
    commit = repo.at(revision)
    if path not in commit.files:
        raise Refused(404, "Entry not found", "EntryNotFound")
    file = commit.files[path]
    headers = {
        "X-Repo-Commit": commit.oid,
        "ETag": f'"{file.lfs or file.blob_id}"',
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream",
    }
    if file.lfs:
        headers |= {"X-Linked-Etag": f'"{file.lfs}"', "X-Linked-Size": str(len(file.content))}
    asked = re.fullmatch(r"bytes=(\d+)-(\d*)", {k.lower(): v for k, v in call.headers.items()}.get("range", ""))
    if not asked:
        return Answer(file.content, headers=headers)
    start, end = int(asked[1]), int(asked[2] or len(file.content) - 1)
    if start >= len(file.content):
        raise Refused(416, "the range is beyond the file")
    part = file.content[start : end + 1]
    headers["Content-Range"] = f"bytes {start}-{start + len(part) - 1}/{len(file.content)}"
    return Answer(part, 206, headers)


_API = r"/api/datasets/([^/]+/[^/]+)"
_ROUTES: list[tuple[str, Callable[..., Answer]]] = [
    (r"GET /api/whoami-v2", _whoami),
    (r"POST /api/repos/create", _create),
    (r"POST /api/validate-yaml", _validate_yaml),
    (rf"GET {_API}/refs", _refs),
    (rf"GET {_API}/tree/([^/]+)(?:/(.+))?", _tree),
    (rf"POST {_API}/paths-info/(.+)", _paths_info),
    (rf"POST {_API}/preupload/(.+)", _preupload),
    (rf"POST {_API}/commit/(.+)", _commit),
    (rf"POST {_API}/tag/(.+)", _tag),
    (rf"DELETE {_API}/tag/(.+)", _untag),
    (rf"GET {_API}(?:/revision/(.+))?", _info),
    (r"POST /datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", _batch),
    (r"POST /datasets/([^/]+/[^/]+)\.git/info/lfs/verify", _verify),
    (r"PUT /large/([0-9a-f]{64})(?:/(\d+))?", _put),
    (r"POST /large/([0-9a-f]{64})/complete", _complete),
    (r"(?:GET|HEAD) /datasets/([^/]+/[^/]+)/resolve/(.+)", _resolve),
]
