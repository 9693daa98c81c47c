"""Texts are clean: no trace of wrong decoding or markup."""

from validation.checks.base import Check
from validation.measures import Measures

TRACES = {
    "a replacement character": r"\x{FFFD}",
    "UTF-8 read as Latin-1 or Windows-1252": r"[ÃÂ][\x{80}-\x{BF}]|â€[\x{80}-\x{BF}™œ“”˜¦¢]",
    "a control character": r"[\x00-\x08\x0B\x0C\x0E-\x1F\x7F]",
    "an HTML entity": r"&(?:amp|lt|gt|quot|nbsp|#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6});",
    "an HTML tag": r"</?(?:br|div|span|ref|table|sub|sup|small|nowiki)\b[^<>]*>",
}


def _find(m: Measures) -> str:
    found = " ".join(
        f"WHEN regexp_matches(title || ' ' || body, '{pattern}') THEN 'contains {what}'"
        for what, pattern in TRACES.items()
    )
    return f"""
        SELECT "row", pid, detail FROM (SELECT text, CASE {found} END AS detail FROM texts) JOIN placements USING (text)
        WHERE detail IS NOT NULL
    """


CHECK = Check(
    name="encoding",
    says="no passage shows wrong decoding or left-over markup",
    why="the source has such text, or it was decoded wrongly; a model reads noise",
    severity="warning",
    unit="instance",
    find=_find,
)
