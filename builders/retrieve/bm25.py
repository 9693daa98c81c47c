"""BM25 by Lucene, with Anserini's analysers and query generator: what Pyserini runs, without its start-up cost."""

import json
import logging
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from builders.config import RetrieverSpec
from builders.errors import SetupError
from builders.retrieve import jvm
from builders.retrieve.base import Context, Hit, Level, Query, checked_options, in_threads, searchable
from builders.text import composed

FIELD = "contents"  # Anserini's name for the text of a document
MOST_TERMS = 1024  # Lucene refuses a query with more clauses
_BUFFER = 128.0  # MB of postings after which Lucene writes a segment

_log = logging.getLogger(__name__)


class Settings(NamedTuple):
    """What index and search must agree on; kept in the index folder."""

    k1: float = 0.9
    b: float = 0.4
    language: str = "en"


class Bm25:
    """Passages by BM25 (Lucene's formula; k1 0.9 and b 0.4 as in Anserini); options: k1, b, language, heap."""

    says = "BM25, by Lucene"
    level: Level = "passage"
    neural = False

    def index(self, context: Context, folder: Path) -> None:
        """Writes one Lucene segment whose document numbers are corpus rows.

        Merging only neighbouring segments keeps that order, whatever the size of the corpus.
        """
        settings = settings_of(context.spec)
        _start(context)
        writer = _writer(folder / "lucene", settings)
        field, document = _document()
        for start, batch in context.corpus.batches():
            for text in searchable(batch).to_pylist():
                field.setStringValue(text)
                writer.addDocument(document)
            context.tick(start + batch.num_rows, len(context.corpus))
        writer.forceMerge(1)
        writer.close()
        if (found := _reader(folder).maxDoc()) != len(context.corpus):
            raise RuntimeError(f"the index has {found} documents for {len(context.corpus)} passages")
        (folder / "settings.json").write_text(json.dumps(settings._asdict()))

    def search(self, context: Context, folder: Path, queries: Sequence[Query]) -> Iterator[list[Hit]]:
        """The k best passages for each query, ties in corpus order; analyser, k1 and b are those of the index."""
        _start(context)
        searcher = _Searcher(folder, context.spec.k)
        return in_threads(searcher.all_hits, queries, context.threads)

    def identity(self, spec: RetrieverSpec) -> dict[str, str]:
        """The jar with Lucene and Anserini; SetupError without a Java that runs it."""
        jvm.java_home()
        return {"anserini": jvm.anserini_jar().stem}


def settings_of(spec: RetrieverSpec) -> Settings:
    """The settings of BM25 in a recipe; SetupError for an option that there is not."""
    options = checked_options(spec, (*Settings._fields, "heap"))
    options = {name: value for name, value in options.items() if name != "heap"}
    settings = Settings(**options)  # type: ignore[arg-type]  # the recipe allows numbers and words alike
    return Settings(float(settings.k1), float(settings.b), str(settings.language))


def _start(context: Context) -> None:
    jvm.start(str(context.spec.options.get("heap", "1g")))


class _Searcher:
    """An open index. Lucene's searcher is safe in threads, and Java runs outside Python's lock."""

    def __init__(self, folder: Path, k: int) -> None:
        settings = Settings(**json.loads((folder / "settings.json").read_text()))
        self._k = k
        self._reader = _reader(folder)
        self._searcher = _class("org.apache.lucene.search.IndexSearcher")(self._reader.getContext())
        self._searcher.setSimilarity(_similarity(settings))
        self._analyzer = _analyzer(settings.language)
        self._generator = _class("io.anserini.search.query.BagOfWordsQueryGenerator")()
        self._mapper = _class("com.fasterxml.jackson.databind.ObjectMapper")()

    def all_hits(self, queries: Sequence[Query]) -> list[list[Hit]]:
        """The best k passages for each query."""
        import jnius

        try:
            return [self._hits(query) for query in queries]
        finally:
            jnius.detach()  # Java would go on counting on a thread that has ended

    def _hits(self, query: Query) -> list[Hit]:
        top = self._searcher.search(self._parsed(query), self._k)
        # One JSON text for all hits: fetching them from Java one by one takes longer than the search.
        found = json.loads(self._mapper.writeValueAsString(top))["scoreDocs"]
        return [Hit(hit["doc"], hit["score"]) for hit in found]

    def _parsed(self, query: Query) -> Any:
        text = composed(query.text)
        if len(text) > MOST_TERMS:  # a shorter text cannot have that many terms
            terms = Counter(_class("io.anserini.analysis.AnalyzerUtils").analyze(self._analyzer, text))
            if len(terms) > MOST_TERMS:
                return self._truncated(query.qid, terms)
        return self._generator.buildQuery(FIELD, self._analyzer, text)

    def _truncated(self, qid: str, terms: Counter[str]) -> Any:
        """A query of the MOST_TERMS terms with the highest tf * idf, each weighted by its tf."""
        _log.warning("query_truncated=true for %s: %d distinct terms, kept %d", qid, len(terms), MOST_TERMS)
        term_class = _class("org.apache.lucene.index.Term")
        weights = {t: n * self._idf(term_class(FIELD, t)) for t, n in terms.items()}
        builder = _class("org.apache.lucene.search.BooleanQuery$Builder")()
        should = _class("org.apache.lucene.search.BooleanClause$Occur").SHOULD
        for term in sorted(weights, key=lambda t: (-weights[t], t))[:MOST_TERMS]:
            clause = _class("org.apache.lucene.search.TermQuery")(term_class(FIELD, term))
            builder.add(_class("org.apache.lucene.search.BoostQuery")(clause, float(terms[term])), should)
        return builder.build()

    def _idf(self, term: Any) -> float:
        """Lucene's idf, ln(1 + (N - df + 0.5) / (df + 0.5)); 0 for a term that is in no passage."""
        n, df = self._reader.maxDoc(), self._reader.docFreq(term)
        return math.log(1 + (n - df + 0.5) / (df + 0.5)) if df else 0.0


def _class(name: str) -> Any:
    from jnius import autoclass

    return autoclass(name)


def _directory(folder: Path) -> Any:
    return _class("org.apache.lucene.store.FSDirectory").open(_class("java.nio.file.Paths").get(str(folder)))


def _reader(folder: Path) -> Any:
    return _class("org.apache.lucene.index.DirectoryReader").open(_directory(folder / "lucene"))


def _writer(folder: Path, settings: Settings) -> Any:
    config = _class("org.apache.lucene.index.IndexWriterConfig")(_analyzer(settings.language))
    config.setSimilarity(_similarity(settings))
    config.setMergePolicy(_class("org.apache.lucene.index.LogDocMergePolicy")())
    config.setRAMBufferSizeMB(_BUFFER)
    return _class("org.apache.lucene.index.IndexWriter")(_directory(folder), config)


def _document() -> tuple[Any, Any]:
    """A field and the document around it, filled anew for each passage: terms and their counts, nothing stored."""
    from jnius import cast

    kind = _class("org.apache.lucene.document.FieldType")()
    kind.setIndexOptions(_class("org.apache.lucene.index.IndexOptions").DOCS_AND_FREQS)
    kind.setTokenized(True)
    kind.freeze()
    empty = cast("java.lang.CharSequence", _class("java.lang.String")(""))  # else jnius finds no constructor
    field = _class("org.apache.lucene.document.Field")(FIELD, empty, kind)
    document = _class("org.apache.lucene.document.Document")()
    document.add(field)
    return field, document


def _similarity(settings: Settings) -> Any:
    return _class("org.apache.lucene.search.similarities.BM25Similarity")(settings.k1, settings.b)


def _analyzer(language: str) -> Any:
    if language == "en":
        return _class("io.anserini.analysis.DefaultEnglishAnalyzer").newDefaultInstance()
    known = _class("io.anserini.analysis.AnalyzerMap")
    codes = sorted(known.analyzerMap.keySet().toArray())
    if language not in codes:
        raise SetupError(f"bm25 has no analyser for language {language!r}; it has en, {', '.join(codes)}")
    return known.getLanguageSpecificAnalyzer(language)
