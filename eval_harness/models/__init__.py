"""Back ends by the prefix of a model's name, as in `openai:MODEL`; a name without one is a local model's."""

from builders.device import DType
from builders.registry import Registry
from eval_harness.models.back_end import BackEnd, ModelOptions
from eval_harness.models.base import Model
from eval_harness.models.chat import ChatServer
from eval_harness.models.local import Local
from eval_harness.models.replay import Replay

LOCAL = "local"

BACK_ENDS: Registry[type[BackEnd]] = Registry(
    "icr2.models",
    "model back end",
    {
        LOCAL: Local,
        "openai": ChatServer,
        "replay": Replay,
    },
    BackEnd,
)


def back_end_of(spec: str) -> tuple[BackEnd, str]:
    """The back end that a user's `PREFIX:NAME` names, and the name it is given."""
    prefix, colon, name = spec.partition(":")
    if colon and prefix in BACK_ENDS:
        return BACK_ENDS[prefix](), name
    return BACK_ENDS[LOCAL](), spec


def is_remote(spec: str) -> bool:
    """Whether the weights of the model that a user names are not on this machine."""
    return back_end_of(spec)[0].remote


def load_model(spec: str, dtype: DType = "auto") -> Model:
    """The model a user names, ready to answer, with default options; SetupError if it cannot be loaded."""
    return load_with(spec, ModelOptions(dtype))


def load_with(spec: str, options: ModelOptions) -> Model:
    """The model a user names, made ready as options say."""
    back_end, name = back_end_of(spec)
    return back_end.load(name, options)
