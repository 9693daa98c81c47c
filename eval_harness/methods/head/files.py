"""The head's weights in a checkpoint's folder, beside those of the model that it was trained with."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from builders.errors import SetupError
from eval_harness.methods.head.scorer import Scorer, Shape, new_head

if TYPE_CHECKING:
    import torch

FILE = "head.safetensors"
VARIANT = "head"  # the name of this kind of training in a checkpoint's record
_FORMAT = "icr2-head/1"


def write_head(folder: Path, weights: dict[str, Any], scorer: Scorer) -> None:
    """Writes a head's weights into a folder, in the number type that they have."""
    from safetensors.torch import save_file

    said = {"format": _FORMAT, "scorer": scorer}
    save_file({name: one.contiguous() for name, one in weights.items()}, folder / FILE, said)


def read_head(folder: Path) -> "torch.nn.ModuleDict":
    """The head in a folder, in evaluation mode; SetupError where there is none or it is broken."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file, safe_open

    path = folder / FILE
    if not path.is_file():
        raise SetupError(f"{folder} holds no {FILE}; train a head with: icr2 train head")
    try:
        with safe_open(path, "pt") as opened:
            said = opened.metadata() or {}
        weights = load_file(path)
        if said.get("format") != _FORMAT:
            raise ValueError(f"its format is {said.get('format')}, not {_FORMAT}")
        width, hidden = weights["query.weight"].shape
        head = new_head(Shape(hidden, width, said["scorer"]))
        head.load_state_dict(weights)
    except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise SetupError(f"{path} is no head ({str(error).splitlines()[0]}); train it again") from None
    return head.eval()
