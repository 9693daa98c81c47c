"""Words of a query that say what it is about."""

from builders.text import fold

# English words that stand in most texts, whatever these are about.
_STOP_WORDS = """
a about above after again against ain all am an and any are aren as at be because been before being below between
both but by can could couldn d did didn do does doesn doing don down during each few for from further had hadn has
hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m
mightn more most mustn my myself needn no nor not now o of off on once only or other our ours ourselves out over own
re s same shan she should shouldn so some such t than that the their theirs them themselves then there these they
this those through to too under until up ve very was wasn we were weren what when where which while who whom why
will with won would wouldn y you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def has_content(text: str) -> bool:
    """Whether a text has a word that is no stop word; one that has none can be looked for by no retriever."""
    return any(word not in STOP_WORDS for word in fold(text).split())
