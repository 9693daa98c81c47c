"""Only gold passages contain an answer in another notation."""

import pyarrow as pa

from validation.checks.answer_in_context import leaks
from validation.checks.base import Check
from validation.measures import Measures
from validation.normal import plain_sql
from validation.notation import other_notations


def noted(m: Measures) -> str:
    """The table of question, text and answer, where a non-gold text contains it only in another notation."""
    variants = [
        (question, answer, variant)
        for question, answer, plain in m.sql(
            "SELECT question, answer, plain FROM answers WHERE NOT article AND NOT has_mark"
        )
        for variant in (plain, *sorted(other_notations(plain)))
    ]
    columns = list(zip(*variants, strict=True)) or [(), (), ()]
    types = {"question": pa.int32(), "answer": pa.string(), "variant": pa.string()}
    arrays = [pa.array(column, type) for column, type in zip(columns, types.values(), strict=True)]
    m.keep("variants", pa.table(arrays, names=list(types)))
    m.shared(
        "plain_texts",
        f"""SELECT text, ' ' || {plain_sql("normal")} || ' ' AS plain,
                   ' ' || {plain_sql("title_normal")} || ' ' AS title_plain FROM texts""",
    )
    return m.shared(
        "noted",
        f"""SELECT question, text, min(answer) AS answer
        FROM others JOIN questions USING (question) JOIN variants USING (question) JOIN plain_texts USING (text)
        WHERE NOT waived AND (contains(plain, ' ' || variant || ' ') OR contains(title_plain, ' ' || variant || ' '))
          AND (question, text) NOT IN (SELECT (question, text) FROM {leaks(m)})
        GROUP BY ALL""",
    )


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", pid, 'a ' || role || ' passage contains ' || answer || ' in another notation' AS detail
        FROM {noted(m)} JOIN instances USING (question) JOIN placements USING ("row", text) WHERE NOT is_gold
    """


CHECK = Check(
    name="other_notation",
    says="only gold passages contain an answer in another notation (accents, dates, separators in numbers)",
    why="a reader who recognises the notation can answer without the evidence",
    severity="warning",
    unit="instance",
    find=_find,
    applies="NOT waived",
)
