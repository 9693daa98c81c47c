"""The report, or a dataset alone, as one self-contained HTML page."""

import gzip
import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from builders.files import write_text
from eval_harness.report.instances import Instances
from eval_harness.report.parts import Document
from eval_harness.report.payload import Payload, Room, payload
from eval_harness.report.study import Study

MOST_BYTES = 20_000_000
_ROOM = Room(passages=60_000_000, output=20_000)
_LEAST_OUTPUT = 500
_HERE = Path(__file__).parent


class Picture(NamedTuple):
    """A figure as a data URI, its caption, and the section that it follows."""

    uri: str
    caption: str
    below: str


def write_page(
    document: Document, study: Study | None, instances: Instances, path: Path, most: int = MOST_BYTES
) -> None:
    """Writes the page; leaves out texts, with a note, until it is within `most` bytes.

    It needs no network and no other file, and its content security policy forbids loading any. All texts are data.
    """
    from eval_harness.report.figures import svg_of

    figures = [Picture(_data_uri(svg_of(drawn.figure)), drawn.caption, drawn.below) for drawn in document.figures]
    room = _ROOM
    while True:
        text = _rendered(document, figures, payload(study, instances, room))
        if len(text.encode()) <= most or (not room.passages and room.output <= _LEAST_OUTPUT):
            break
        room = _smaller(room)
    write_text(path, text)


def _smaller(room: Room) -> Room:
    """Halves the space for passages; once that is small, halves the space for outputs."""
    if room.passages:
        return room._replace(passages=room.passages // 2 if room.passages > 100_000 else 0)
    return room._replace(output=max(_LEAST_OUTPUT, room.output // 2))


def _rendered(document: Document, figures: list[Picture], shown: Payload) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    return environment.get_template("page.html.j2").render(
        page=document,
        pictures=figures,
        style=(_HERE / "page.css").read_text(encoding="utf-8"),
        script=script,
        script_digest=b64encode(sha256(script.encode()).digest()).decode(),
        data=_packed(shown.content),
        left_out=shown.left_out,
        with_runs=bool(document.sections),
    )


def _packed(content: dict[str, Any]) -> str:
    """Values as compressed JSON in base64, which is safe inside HTML; equal values give equal text."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _data_uri(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
