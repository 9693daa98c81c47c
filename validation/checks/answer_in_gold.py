"""Gold contains an answer, where the task is extractive."""

from validation.checks.base import Check
from validation.measures import Measures
from validation.normal import gives_away_sql

EXTRACTIVE = "NOT waived AND extractive"  # labels and replies do not occur in the evidence
ANSWERED = f"{EXTRACTIVE} AND NOT control"


def lacking(m: Measures) -> str:
    """The table of rows whose gold contains no answer."""
    return m.shared(
        "lacking",
        f"""SELECT "row" FROM instances
        WHERE {ANSWERED} AND "row" NOT IN (
            SELECT "row" FROM placements JOIN instances USING ("row") JOIN answers a USING (question)
            JOIN texts t USING (text)
            WHERE is_gold AND ({gives_away_sql("a", "t.words", "t.normal", "t.marked")}
                OR {gives_away_sql("a", "t.title_words", "t.title_normal", "t.title_marked")}))""",
    )


def _find(m: Measures) -> str:
    return f"""SELECT "row", NULL AS pid, 'no gold passage contains an answer' AS detail FROM {lacking(m)}"""


CHECK = Check(
    name="answer_in_gold",
    says="a gold passage contains an answer, where the task is extractive",
    why="annotators marked evidence that implies the answer, but its words are elsewhere or in another form",
    severity="warning",
    unit="instance",
    find=_find,
    applies=ANSWERED,
)
