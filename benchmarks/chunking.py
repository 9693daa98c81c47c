"""Pages cut into passages, compared with spaCy's sentence splitter and the same packing."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.inputs import page_table
from benchmarks.report import Result
from benchmarks.timing import alternately
from builders.chunk import chunk_table
from builders.sources.clean import clean

WORDS = 100


def bench(folder: Path, work: Path) -> list[Result]:
    """Pages per second; both must keep every character of every page, in order, in passages of at most 100 words."""
    pages = page_table(folder)
    ours, peer = alternately(lambda: chunk_table(pages, WORDS), lambda: peer_passages(pages))
    passages = list(zip(ours.result["page_id"].to_pylist(), ours.result["text"].to_pylist(), strict=True))
    longest = max(len(text.split()) for _, text in passages)
    same = len(set(passages) & set(peer.result))
    note = f"{len(passages):,} passages, the peer {len(peer.result):,}; {same:,} are the same in both"
    return [
        Result(
            "chunking",
            "pages/s",
            pages.num_rows / ours.seconds,
            pages.num_rows / peer.seconds,
            peer.seconds / ours.seconds,
            "5 or more",
            characters(passages) == characters(peer.result) and longest <= WORDS,
            "spaCy's sentencizer, same packing",
            (note,),
        )
    ]


def peer_passages(pages: pa.Table) -> list[tuple[str, str]]:
    """(page id, text) of each passage: spaCy's sentences of a page's paragraphs, packed up to WORDS words."""
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 10**9
    texts = ("\n".join(clean(raw).text for raw in paragraphs[1:]) for paragraphs in pages["paragraphs"].to_pylist())
    return [
        (page_id, text)
        for page_id, document in zip(pages["page_id"].to_pylist(), nlp.pipe(texts), strict=True)
        for text in packed(document.sents)
    ]


def packed(sentences: Iterable[Any]) -> Iterator[str]:
    """Passages of whole sentences; a sentence longer than WORDS is split."""
    open_: list[str] = []
    for sentence in sentences:
        words = sentence.text.split()
        if open_ and len(open_) + len(words) > WORDS:
            yield " ".join(open_)
            open_ = []
        open_ += words
        while len(open_) > WORDS:
            yield " ".join(open_[:WORDS])
            open_ = open_[WORDS:]
    if open_:
        yield " ".join(open_)


def characters(passages: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The text of each page without whitespace, from the passages (page id, text) in order.

    Whitespace is removed because a sentence may begin without any: "in Paris.He went".
    """
    texts: dict[str, list[str]] = {}
    for page_id, text in passages:
        texts.setdefault(page_id, []).extend(text.split())
    return {page_id: "".join(words) for page_id, words in texts.items()}
