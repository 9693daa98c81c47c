"""Which candidates are excluded from a question's context, and why (paper, section 3.2).

Reasons, the first that applies: `gold_overlap` (touches a provenance, or shares its word bigrams with a gold passage),
`contains_answer` (text or title contains an answer or alias as whole words, with its marks), `near_duplicate` (shares
its word bigrams with a candidate already taken). Titles and texts are never changed here.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from xxhash import xxh3_64_intdigest

from builders.schema import AnswerKind, Passage
from builders.text import fold_bytes, gives_away, is_article, loses_mark, marked, marked_bytes, normalise

NEAR = 0.9  # share of the smaller passage's bigrams above which two passages are near duplicates


class AnswerFilter:
    """Finds answers in the passages of one corpus; each passage is folded once and cached by its row."""

    def __init__(self, remembered: int = 50_000) -> None:
        self._folded: dict[int, bytes] = {}
        self._most = remembered

    def hits(self, answers: Sequence[str], candidates: Sequence[Passage]) -> list[str | None]:
        """For each candidate, the first answer that its title or text gives away, as whole words, or None."""
        known = self._folded
        folded = [known.get(candidate.row) or self._fold(candidate) for candidate in candidates]
        joined = b"".join(folded)  # one search for all candidates: most contain no answer
        starts: list[int] = []
        found: list[str | None] = [None] * len(candidates)
        for answer, words in ((one, words) for one in answers for words in _spellings(one)):
            if max(words, key=len) in joined:
                starts = starts or list(accumulate(map(len, folded), initial=0))
                for at in _places(max(words, key=len), joined, starts):
                    # every word must occur before the slower exact rule is applied
                    if found[at] is None and all(word in folded[at] for word in words):
                        found[at] = answer if _gives_away(candidates[at], answer) else None
        return found

    def _fold(self, passage: Passage) -> bytes:
        if len(self._folded) >= self._most:
            self._folded.clear()
        plain = b" %b %b " % (fold_bytes(passage.title), fold_bytes(passage.text))
        kept = b" %b %b " % (marked_bytes(passage.title), marked_bytes(passage.text))
        self._folded[passage.row] = folded = plain if kept == plain else plain + kept
        return folded


def _spellings(answer: str) -> list[list[bytes]]:
    """The words of an answer, each between spaces, with its marks and without; none for an answer without words."""
    forms = dict.fromkeys((marked(answer), normalise(answer)))
    return [[b" %b " % word.encode(errors="surrogatepass") for word in form.split()] for form in forms if form]


def _places(needle: bytes, joined: bytes, starts: Sequence[int]) -> Iterator[int]:
    """Indices of the texts in `joined` that contain `needle`; text i begins at `starts[i]` and ends with a space."""
    at = joined.find(needle)
    while at >= 0:
        place = bisect_right(starts, at) - 1
        yield place
        at = joined.find(needle, starts[place + 1])


def _gives_away(passage: Passage, answer: str) -> bool:
    return gives_away(answer, passage.text) or gives_away(answer, passage.title)


def answer_flags(answers: Sequence[str], kind: AnswerKind) -> list[str]:
    """Flags for how the answer filter and the scorers treat a question.

    `answer_filter_not_applicable`: labels and yes/no do not occur in the knowledge source.
    `article_answer`, `unmatchable_answer`: an answer is only an article, or empty once normalised.
    `marked_answer`: an answer has a sign or mark (`-5`, `C++`, `$5`) that the strict scores keep.
    """
    if kind != "text":
        return ["answer_filter_not_applicable"]
    kept = [marked(answer) for answer in answers]
    flags = {
        "article_answer": any(map(is_article, kept)),
        "unmatchable_answer": "" in kept,
        "marked_answer": any(map(loses_mark, answers)),
    }
    return [flag for flag, applies in flags.items() if applies]


def drop_reasons(
    candidates: Sequence[Passage],
    gold: Sequence[Passage],
    barred: Iterable[int],
    answers: Sequence[str],
    answer_filter: AnswerFilter,
) -> list[str | None]:
    """Why each candidate is dropped, in order, or None if it is kept; see `judged`."""
    return [verdict.reason for verdict in judged(candidates, gold, barred, answers, answer_filter)]


class Verdict(NamedTuple):
    """Why a candidate is dropped, or None; of a near duplicate the place of the kept candidate that it is near to."""

    reason: str | None
    copy_of: int | None = None


def judged(
    candidates: Sequence[Passage],
    gold: Sequence[Passage],
    barred: Iterable[int],
    answers: Sequence[str],
    answer_filter: AnswerFilter,
) -> list[Verdict]:
    """What is decided of each candidate, in order; pass no answers where they are not text.

    Candidates are taken in the order given: of two near duplicates the later one is dropped.
    """
    forbidden = {passage.row for passage in gold} | set(barred)
    answered = answer_filter.hits(answers, candidates)
    near = _near([*gold, *candidates])
    gold_places = set(range(len(gold)))
    verdicts: list[Verdict] = []
    taken: set[int] = set()
    for place, (candidate, answer) in enumerate(zip(candidates, answered, strict=True), start=len(gold)):
        if candidate.row in forbidden or near[place] & gold_places:
            verdicts.append(Verdict("gold_overlap"))
        elif answer is not None:
            verdicts.append(Verdict("contains_answer"))
        elif near_to := near[place] & taken:
            verdicts.append(Verdict("near_duplicate", min(near_to) - len(gold)))
        else:
            verdicts.append(Verdict(None))
            taken.add(place)
    return verdicts


@lru_cache(50_000)
def _bigram_keys(text: str) -> np.ndarray:
    words = normalise(text).split()
    pairs = [f"{a} {b}" for a, b in pairwise(words)] or words
    # Python's own hash of a string differs between processes
    return np.unique(
        np.fromiter((xxh3_64_intdigest(pair.encode()) for pair in pairs), dtype=np.uint64, count=len(pairs))
    )


def _near(texts: Sequence[Passage]) -> Mapping[int, set[int]]:
    """For each text (by its index), the others that share at least NEAR of the smaller one's bigrams."""
    keys = [_bigram_keys(text.text) for text in texts]
    sizes = np.array([len(k) for k in keys])
    _, columns = np.unique(np.concatenate(keys) if keys else np.empty(0, np.uint64), return_inverse=True)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    matrix = csr_array((np.ones(len(columns), np.int32), columns, starts))
    shared = (matrix @ matrix.T).tocoo()
    smaller = np.minimum(sizes[shared.coords[0]], sizes[shared.coords[1]])
    close = (shared.coords[0] != shared.coords[1]) & (shared.data >= NEAR * smaller)
    near: dict[int, set[int]] = {at: set() for at in range(len(texts))}
    for a, b in zip(shared.coords[0][close].tolist(), shared.coords[1][close].tolist(), strict=True):
        near[a].add(b)
    return near
