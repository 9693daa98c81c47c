"""Readers of pages and questions, by the name that a recipe gives them."""

from builders.config import GoldMode, Task
from builders.registry import Registry
from builders.sources import frames, hotpotqa, intros, kilt, loft, musique, twowiki
from builders.sources.base import Giving, Reader, ReadGiven, ReadPages, ReadQuestions

READERS: Registry[Reader] = Registry(
    "icr2.readers",
    "reader",
    {
        "kilt": kilt.READER,
        "hotpotqa": hotpotqa.READER,
        "twowiki": twowiki.READER,
        "musique": musique.READER,
        "intros": intros.READER,
        "frames": frames.READER,
        "loft": loft.READER,
    },
    Reader,
)
PAGE_READERS: Giving[ReadPages] = Giving(READERS, "pages", lambda reader: reader.pages)
QUESTION_READERS: Giving[ReadQuestions] = Giving(READERS, "questions", lambda reader: reader.questions)
GIVEN_READERS: Giving[ReadGiven] = Giving(READERS, "paragraphs with questions", lambda reader: reader.given)


def gold_of(task: Task) -> GoldMode:
    """Which passages of a task are gold: as it says or, without that, as its sources say, or their readers."""
    if task.gold:
        return task.gold
    asked = [file.gold or READERS[file.reader].gold for file in task.files.values()]
    return "all" if "all" in asked else "best"
