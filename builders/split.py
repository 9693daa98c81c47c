"""Which questions each split gets, independent of the order in the source."""

from collections import Counter
from collections.abc import Sequence

from builders.errors import SetupError
from builders.schema import Question
from builders.seeds import order_key
from builders.text import normalise


def checked_ids(questions: Sequence[Question], where: str) -> Sequence[Question]:
    """The questions; SetupError lists ids that several of them share, whose relevance judgements would mix."""
    repeated = [id for id, n in Counter(question.id for question in questions).items() if n > 1]
    if repeated:
        more = f" and {len(repeated) - 5} more" if len(repeated) > 5 else ""
        raise SetupError(f"{where}: {', '.join(repeated[:5])}{more} occur in several records; ids must be unique")
    return questions


class Splitter:
    """Deals the questions of one task into splits; no normalised query occurs twice, within or across splits."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._owner: dict[str, str] = {}  # the question that took each query
        self._dealt: set[str] = set()

    def take(self, questions: Sequence[Question], n: int, counts: Counter[str]) -> list[Question]:
        """The next `n` questions by a hash of (seed, id) whose query is new."""
        taken: list[Question] = []
        for question in sorted(questions, key=lambda q: order_key(self._seed, "split", q.id)):
            if len(taken) == n:
                break
            owner = self._owner.setdefault(normalise(question.query) or question.query, question.id)
            if owner == question.id and question.id not in self._dealt:
                self._dealt.add(question.id)
                taken.append(question)
            elif owner != question.id:
                counts["dup_input"] += 1
        counts["too_few"] += n - len(taken)
        return taken
