"""Direct answer: table 8's prompt over the passages, and the output read as the answer."""

from typing import ClassVar

from eval_harness.conditions.base import CONDITIONS
from eval_harness.methods.base import Given, Method, Name, Setting
from eval_harness.models.base import Model
from eval_harness.models.checkpoint import check_answers_at_once

CITE = r"(?P<cites>\+cite)?"


class Direct(Method):
    """One prompt, one output; with `cites`, it asks for the numbers of the passages too."""

    form: ClassVar[str] = "[+cite]"
    grammar: ClassVar[str] = CITE

    def __init__(self, cites: bool = False) -> None:
        self.name = "direct+cite" if cites else "direct"
        self.cites = cites

    @classmethod
    def named(cls, name: Name, given: Given) -> Setting:
        """A direct answer under the condition of the class."""
        return Setting(name.text, cls.condition, Direct(bool(name.get("cites"))))

    def check(self, model: Model) -> None:
        """Raises SetupError for a model that was tuned to begin with something else."""
        check_answers_at_once(model)


class ClosedBook(Direct):
    """Without passages."""

    says = "answers without passages"
    condition = CONDITIONS["closed_book"]


class VanillaRag(Direct):
    """Over the full context."""

    says = "answers from the full context"


class OracleRag(Direct):
    """Over the gold passages alone."""

    says = "answers from the gold passages"
    condition = CONDITIONS["oracle_rag"]
