"""Entity linking in BLINK's way (Wu et al., 2020): names in the query, each linked to pages by a bi-encoder."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from builders.config import RetrieverSpec
from builders.retrieve.base import DECIMALS, Context, Hit, Level, Query, page_hits
from builders.retrieve.dense import Vectors, link_vectors, model_identity, query_encoder
from builders.retrieve.mentions import Mention, Names, write_names

_AT_ONCE = 1024  # queries whose mentions share one pass over all vectors

Linked = list[tuple[np.ndarray, list[int]]]  # the vector of each mention, and the pages of that name


class Entity:
    """Pages that a query's names are linked to.

    A name is encoded together with its query, a page as its title and first passage, and a link's score is their inner
    product; below `min_score` the link is NIL and dropped. A page whose title is the name leads: its score is raised
    by the largest inner product that two vectors of these lengths can have (1 for vectors of length 1).
    """

    says = "entity linking: mentions, then a bi-encoder"
    level: Level = "page"
    neural = True

    def index(self, context: Context, folder: Path) -> None:
        """Writes the table of names and the vector of each page's first passage, shared with dense retrieval."""
        write_names(context.corpus, folder)
        (folder / "vectors").mkdir()
        link_vectors(context, folder / "vectors", ("first",))

    def search(self, context: Context, folder: Path, queries: Sequence[Query]) -> Iterator[list[Hit]]:
        """The passages of the k best pages for each query, ties in corpus order; none where no name is linked."""
        names, vectors = Names(folder), Vectors(folder / "vectors", context.corpus)
        mentions = [names.mentions(query.text) for query in queries]
        texts = [[_in_query(m, query) for m in found] for query, found in zip(queries, mentions, strict=True)]
        encoded = query_encoder(context.spec).encode_distinct(text for some in texts for text in some)
        for start in range(0, len(queries), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            linked = [
                [(encoded[text], mention.pages) for text, mention in zip(of_query, found, strict=True)]
                for of_query, found in zip(texts[some], mentions[some], strict=True)
            ]
            yield from _linked_hits(context, vectors, linked)

    def identity(self, spec: RetrieverSpec) -> dict[str, str]:
        """Library versions, the digests of both encoders, and the dtype."""
        return model_identity(spec)


def _in_query(mention: Mention, query: Query) -> str:
    """What is encoded for a mention: the name before its query, as a page's title comes before its text."""
    return f"{mention.name} {query.text}"


def _linked_hits(context: Context, vectors: Vectors, linked: list[Linked]) -> Iterator[list[Hit]]:
    asked = [vector for mentions in linked for vector, _ in mentions]
    nearest = vectors.nearest(np.stack(asked), context.spec.k) if asked else iter(())
    for mentions in linked:
        scores: dict[int, float] = {}
        for vector, named in mentions:
            near = _near_pages(context, next(nearest))
            for page, score in (*near, *_named_pages(context, vectors, vector, named)):
                scores[page] = max(score, scores.get(page, score))
        best = sorted(scores.items(), key=lambda page: (-page[1], page[0]))[: context.spec.k]
        yield page_hits(context.corpus, best)


def _near_pages(context: Context, hits: Sequence[Hit]) -> list[tuple[int, float]]:
    """The pages of a mention's nearest first passages, without NIL."""
    linked = [hit for hit in hits if hit.score >= context.spec.min_score]
    numbers = context.corpus.page_numbers(np.array([hit.row for hit in linked], dtype=np.int64))
    return list(zip(numbers.tolist(), (hit.score for hit in linked), strict=True))


def _named_pages(
    context: Context, vectors: Vectors, asked: np.ndarray, pages: Iterable[int]
) -> Iterator[tuple[int, float]]:
    """The pages whose title the mention is, with the raised score, without NIL."""
    for page in pages:
        vector = vectors.at(context.corpus.rows_of_page_number(page)[0])
        score = float(asked @ vector)
        if score >= context.spec.min_score:
            most = float(np.linalg.norm(asked) * np.linalg.norm(vector))
            yield page, round(score + most, DECIMALS)
