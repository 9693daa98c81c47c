"""Pages of a knowledge source, read in one pass: a fixed sample, and their passages."""

from heapq import heappop, heappush

from builders.chunk import chunk_page
from builders.errors import SetupError
from builders.schema import Page, Passage
from builders.seeds import order_key
from builders.sources.titles import first_paragraph


class Sample:
    """The pages with the smallest hashes of their ids, as few as contain the wanted number of words."""

    def __init__(self, seed: str, words: int) -> None:
        self._seed, self._words, self._held = seed, words, 0
        self._heap: list[tuple[int, str, int, Page]] = []

    def add(self, page: Page) -> None:
        """Adds a page, and drops those no longer among the smallest."""
        texts = page.paragraphs[first_paragraph(page.title, page.paragraphs) :]
        words = sum(max(len(text.split()), len(text) // 10) for text in texts)
        key = int.from_bytes(order_key(self._seed, "filler", page.page_id), "big")
        heappush(self._heap, (-key, page.page_id, words, page))
        self._held += words
        while self._held - self._heap[0][2] >= self._words:
            self._held -= heappop(self._heap)[2]

    def pages(self) -> list[Page]:
        """The pages, by their hashes."""
        return [page for *_, page in sorted(self._heap, key=lambda entry: -entry[0])]


class Passages:
    """Passages of pages, each with its own number."""

    def __init__(self, words: int) -> None:
        self._words = words
        self._known: dict[str, tuple[str, list[Passage]]] = {}  # title and passages by the page's id
        self._next = 0

    def of(self, page: Page) -> list[Passage]:
        """The passages of a page; SetupError if another page has its id."""
        if page.page_id not in self._known:
            pieces = chunk_page(page, self._words)
            passages = [
                Passage(self._next + n, f"{page.page_id}:{n}", page.title, piece.text) for n, piece in enumerate(pieces)
            ]
            self._known[page.page_id] = (page.title, passages)
            self._next += len(pieces)
        title, passages = self._known[page.page_id]
        if title != page.title:
            raise SetupError(f"the knowledge source has several pages with id {page.page_id}; keep one of each")
        return passages
