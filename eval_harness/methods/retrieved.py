"""Direct answers from the passages of the context that a ranker puts first."""

from typing import ClassVar

from eval_harness.conditions.base import retrieved_condition
from eval_harness.conditions.ranking import Ranker
from eval_harness.methods.base import Given, Name, Setting
from eval_harness.methods.direct import CITE, Direct

K = 16  # passages, unless the name says another number


class Retrieved(Direct):
    """The K best passages, in the order of the context."""

    form: ClassVar[str] = "[@K][+cite]"
    grammar: ClassVar[str] = rf"(?:@(?P<k>[1-9][0-9]*))?{CITE}"
    ranker: ClassVar[Ranker]

    @classmethod
    def named(cls, name: Name, given: Given) -> Setting:
        """The setting under its shortest spelling."""
        k = name.number("k", K)
        at = f"@{k}" if k != K else ""
        condition = retrieved_condition(given.retrieval, cls.ranker, k)
        return Setting(f"{name.base}{at}{name.get('cites')}", condition, Direct(bool(name.get("cites"))))


class RetrievedBm25(Retrieved):
    """By BM25."""

    says = f"answers from the K best passages by BM25, {K} by default"
    ranker = "bm25"


class RetrievedDense(Retrieved):
    """By an encoder."""

    says = "the same by an encoder"
    ranker = "dense"


class RetrievedHybrid(Retrieved):
    """By both."""

    says = "the same by both, fused by reciprocal rank"
    ranker = "hybrid"
