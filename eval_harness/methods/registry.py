"""Methods by name, and what `--method` names: a method with parameters, under a condition."""

import re
from collections.abc import Sequence

from builders.errors import SetupError
from builders.registry import Registry
from eval_harness.conditions.ranking import Retrieval
from eval_harness.methods.base import NEEDS, Given, Method, Name, Setting
from eval_harness.methods.direct import ClosedBook, OracleRag, VanillaRag
from eval_harness.methods.probed import Probed
from eval_harness.methods.rap import Rap
from eval_harness.methods.rethead import RetHead
from eval_harness.methods.retrieved import RetrievedBm25, RetrievedDense, RetrievedHybrid
from eval_harness.methods.tuned import SftCci, SftDa, SftRta
from eval_harness.methods.variants import VARIANTS
from eval_harness.models.base import Model
from eval_harness.models.checkpoint import method_of, training_of

OWN: dict[str, type[Method]] = {
    "closed_book": ClosedBook,
    "vanilla_rag": VanillaRag,
    "oracle_rag": OracleRag,
    "retrieved_bm25": RetrievedBm25,
    "retrieved_dense": RetrievedDense,
    "retrieved_hybrid": RetrievedHybrid,
    "rap": Rap,
    "sft_da": SftDa,
    "sft_rta": SftRta,
    "sft_cci": SftCci,
    "rethead": RetHead,
}
METHODS: Registry[type[Method]] = Registry("icr2.methods", "method", OWN, Method)
_NAME = re.compile(r"(?P<base>[^@+]*)(?P<rest>.*)", re.DOTALL)


def settings(names: Sequence[str], retrieval: Retrieval | None = None, probed: Probed | None = None) -> list[Setting]:
    """The settings that the names stand for, each once, in the order given; SetupError names those that are none.

    `rap@QxM` answers from the top M passages of Q heads of `probed`, and `rap` from those that its preset says.
    """
    given = Given(retrieval or Retrieval(), probed)
    return list({found.name: found for found in (_setting(name, given) for name in names)}.values())


def setting(name: str) -> Setting:
    """The setting that a name stands for which needs nothing else."""
    return _setting(name, Given(Retrieval()))


def setting_of(model: Model) -> Setting:
    """The setting that a model was tuned for; answering at once from the whole context, for one that was for none."""
    training = training_of(model)
    return setting(method_of(training.variant) if training and training.variant in VARIANTS else "vanilla_rag")


def forms() -> list[str]:
    """How each method is named, with parameters; other packages are not loaded for this, so theirs are bare names."""
    return [f"{name}{OWN[name].form if name in OWN else ''}" for name in METHODS]


def described() -> list[str]:
    """How each method is named, what it does and what it needs."""
    return [f"{form}: {_about(OWN.get(name))}" for name, form in zip(METHODS, forms(), strict=True)]


def _about(method: type[Method] | None) -> str:
    if method is None:
        return "from another package"
    needs = " and ".join(NEEDS[need] for need in method.needs)
    return f"{method.says} (needs {needs})" if needs else method.says


def _setting(text: str, given: Given) -> Setting:
    written = _NAME.fullmatch(text)
    base, rest = (written["base"], written["rest"]) if written else ("", "")
    if base not in METHODS:
        raise SetupError(f"no method {text}; available: {', '.join(forms())}")
    method = METHODS[base]
    parameters = method.parameters(rest)
    if parameters is None:
        raise SetupError(f"no method {text}; {base} is written {base}{method.form}")
    return method.named(Name(text, base, parameters), given)
