"""What `--method` names.

A condition, `@k` after a retrieved one, and `+cite` for the citation contract; `rap@QxM`; and what a model was tuned
for, such as `sft_rta`, also with `+block_context` or `+rap@QxM`, or `rethead@K`, also with `+reprompt`.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from builders.errors import SetupError
from eval_harness.conditions.base import CONDITIONS, Condition, retrieved
from eval_harness.conditions.ranking import RANKERS, Ranker, Retrieval
from eval_harness.data.dataset import Instance, Passage
from eval_harness.methods.base import Method
from eval_harness.methods.direct import Direct
from eval_harness.methods.rap import DIRECT, Choice, Probed, Rap
from eval_harness.methods.rethead import RetHead
from eval_harness.methods.tuned import ROOM, Blocked, Tuned
from eval_harness.methods.variants import VARIANTS, Variant
from eval_harness.models.base import Model
from eval_harness.models.checkpoint import RETRIEVING, method_of, training_of
from eval_harness.probing.heads import Setting as HeadSetting
from eval_harness.probing.heads import preset

K = 16  # passages of a retrieved condition, unless its name says another number

_RETRIEVED: dict[str, Ranker] = {f"retrieved_{ranker}": ranker for ranker in RANKERS}
_NAME = re.compile(r"(?P<condition>\w+)(?:@(?P<k>[1-9][0-9]*))?(?P<cites>\+cite)?")
_RAP = re.compile(r"rap(?:@(?P<q>[1-9][0-9]*)x(?P<m>[1-9][0-9]*))?")
_TUNED = re.compile(rf"sft_(?P<variant>{'|'.join(VARIANTS)})(?:\+(?P<blocks>block_context)|\+(?P<rap>{_RAP.pattern}))?")
_HEAD = re.compile(r"rethead@(?P<k>[1-9][0-9]*)(?P<reprompts>\+reprompt)?")


class Setting(NamedTuple):
    """A condition and the method used under it; `retrieves` is how many tokens of retrieval may precede an answer."""

    name: str
    condition: Condition
    method: Method
    ranker: Ranker | None = None
    cites: bool = False
    retrieves: int = 0

    @property
    def names_evidence(self) -> bool:
        """Whether every answer under it comes with passages that it rests on."""
        return self.cites or self.condition.selects or self.method.keeps

    def shown(self, instance: Instance) -> list[Passage] | None:
        """The passages that the condition shows, None where it cannot be met."""
        return self.condition.show(instance)

    def prompt(self, instance: Instance) -> str | None:
        """The text of the prompt for an instance, or None where the condition cannot be met."""
        passages = self.shown(instance)
        return None if passages is None else self.method.prompt(instance, passages).text


CITING = Direct(cites=True)

METHODS: dict[str, Setting] = {name: Setting(name, condition, DIRECT) for name, condition in CONDITIONS.items()}

NAMES = (*METHODS, *_RETRIEVED)  # each also with +cite
TUNED: dict[str, Tuned] = {variant: Tuned(variant) for variant in VARIANTS}


def settings(names: Sequence[str], retrieval: Retrieval, probed: Probed | None = None) -> list[Setting]:
    """The settings that the names stand for, each once, in the order given; SetupError names those that are none.

    `rap@QxM` answers from the top M passages of Q heads of `probed`, and `rap` from those that its preset says.
    """
    found = {name: _named(name, retrieval, probed) for name in names}
    if unknown := sorted(name for name, setting in found.items() if setting is None):
        raise SetupError(
            f"no method {', '.join(unknown)}; there are {', '.join(NAMES)}, the retrieved ones also with a number of "
            "passages (retrieved_bm25@8), each also with citations (vanilla_rag+cite), and rap@QxM (rap@4x1); tuned "
            f"models have {', '.join(map(method_of, VARIANTS))}, each also with +rap or +rap@QxM, and "
            f"{' and '.join(map(method_of, RETRIEVING))} with +block_context, and rethead@K, also with +reprompt"
        )
    return list({setting.name: setting for setting in found.values() if setting is not None}.values())


def setting_of(model: Model) -> Setting:
    """The setting that a model was tuned for; answering at once from the whole context, for one that was for none."""
    training = training_of(model)
    tuned = training and TUNED.get(training.variant)
    return _over_context(tuned.name, tuned, tuned.variant) if tuned else METHODS["vanilla_rag"]


def _named(name: str, retrieval: Retrieval, probed: Probed | None) -> Setting | None:
    if written := _RAP.fullmatch(name):
        return Setting(name, CONDITIONS["vanilla_rag"], _rap(name, written, probed))
    if written := _TUNED.fullmatch(name):
        return _tuned(name, written, probed)
    if written := _HEAD.fullmatch(name):
        return Setting(name, CONDITIONS["vanilla_rag"], RetHead(int(written["k"]), bool(written["reprompts"])))
    return _setting(name, retrieval)


def _setting(name: str, retrieval: Retrieval) -> Setting | None:
    """The setting of a name, under its shortest spelling."""
    written = _NAME.fullmatch(name)
    if written is None or (written["k"] and written["condition"] not in _RETRIEVED):
        return None
    condition = _condition(written["condition"], int(written["k"] or K), retrieval)
    if condition is None:
        return None
    at = f"@{written['k']}" if written["k"] and int(written["k"]) != K else ""
    cites = bool(written["cites"])
    spelling = f"{written['condition']}{at}{written['cites'] or ''}"
    return Setting(spelling, condition, CITING if cites else DIRECT, _RETRIEVED.get(written["condition"]), cites)


def _tuned(name: str, written: re.Match[str], probed: Probed | None) -> Setting | None:
    """What a model is tuned for, over the full context; None where the variant has no retrieval to answer from."""
    tuned = TUNED[written["variant"]]
    method: Method = tuned
    if written["blocks"] and not tuned.keeps:
        return None
    if written["blocks"]:
        method = Blocked(tuned.variant)
    if written["rap"]:
        method = _rap(name, written, probed, tuned)
    return _over_context(name, method, tuned.variant)


def _over_context(name: str, method: Method, variant: Variant) -> Setting:
    return Setting(name, CONDITIONS["vanilla_rag"], method, retrieves=ROOM[variant])


def _rap(name: str, written: re.Match[str], probed: Probed | None, asking: Direct | Tuned = DIRECT) -> Rap:
    """Retrieval attention probing over the full context."""
    if probed is None:
        raise SetupError(f"{name} needs heads that retrieve: give --heads FILE, made with: icr2 probe")
    if written["q"]:
        chosen = {"": HeadSetting(int(written["q"]), int(written["m"]))}
    else:
        chosen = (not probed.preset and probed.heads.tuned()) or preset(probed.preset)
    choice = Choice(probed.heads, chosen, probed.max_layer)
    choice.check()
    return Rap(choice, asking)


def _condition(name: str, k: int, retrieval: Retrieval) -> Condition | None:
    if name in _RETRIEVED:
        return Condition(f"{name}@{k}", retrieved(retrieval, _RETRIEVED[name], k), selects=True)
    return CONDITIONS.get(name)
