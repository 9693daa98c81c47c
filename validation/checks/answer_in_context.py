"""Only gold passages contain an answer."""

from validation.checks.base import Check
from validation.measures import Measures
from validation.normal import gives_away_sql

GIVEN = "answer_in_given"  # the flag of rows whose source provides a distractor with an answer


def leaks(m: Measures) -> str:
    """The table of question, text and answer where a non-gold text contains the answer."""
    return m.shared(
        "leaks",
        f"""SELECT question, text, min(answer) AS answer
        FROM others JOIN questions USING (question) JOIN answers a USING (question) JOIN texts t USING (text)
        WHERE NOT waived AND ({gives_away_sql("a", "t.words", "t.normal", "t.marked")}
            OR {gives_away_sql("a", "t.title_words", "t.title_normal", "t.title_marked")})
        GROUP BY ALL""",
    )


def _find(m: Measures) -> str:
    return f"""
        SELECT "row", pid, 'a ' || role || ' passage contains the answer ' || answer AS detail
        FROM {leaks(m)} JOIN instances USING (question) JOIN placements p USING ("row", text) WHERE NOT is_gold
          AND NOT (family = 'given' AND role = 'confounder' AND list_contains(flags, '{GIVEN}'))
    """


CHECK = Check(
    name="answer_in_context",
    says="only gold passages contain an answer or alias in text or title, as whole words after normalisation",
    why="the question can be answered without its evidence, so the score does not measure retrieval",
    severity="error",
    unit="instance",
    find=_find,
    applies="NOT waived",
)
