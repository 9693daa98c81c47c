"""Checkpoints that say what they were tuned for, and models that write what a test wants."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eval_harness.methods.tuned import Tuned
from eval_harness.methods.variants import VARIANTS
from eval_harness.models.fake import FakeModel
from eval_harness.models.hf import HfModel
from eval_harness.models.training import Data, Named, Training, write_training

TUNED = {variant: Tuned(variant) for variant in VARIANTS}


def training(variant: str, marks: bool = True) -> Training:
    return Training(
        variant=variant,
        marks=marks,
        base=Named(name="tiny", revision="r"),
        dataset=Data(name="tiny", version="1.0.0", manifest_sha256="0", configs=["1k_p0"]),
        prompt_version="2",
        samples={},
        seed="v1",
        settings={},
        versions={},
    )


class Checkpoint(FakeModel):
    """Answers with a function of the prompt, from a folder with a record; keeps the limits that it was asked with."""

    def __init__(
        self, folder: Path, variant: str | None, answer: Callable[[str], str], max_positions: int = 1 << 20
    ) -> None:
        super().__init__(answer, name="tuned", max_positions=max_positions)
        self.folder = folder
        self.limits: list[int] = []
        folder.mkdir(exist_ok=True)
        if variant:
            write_training(folder, training(variant))

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Any]:
        self.limits.append(max_new_tokens)
        return super().generate(prompts, max_new_tokens)


def tuned(model_folder: Path, out: Path, variant: str, marks: bool = True) -> HfModel:
    """A copy of a model with a record."""
    shutil.copytree(model_folder, out)
    write_training(out, training(variant, marks))
    return HfModel(out, "tuned", "r", "float32")


@contextmanager
def writing(model: HfModel, prompt: str, script: Sequence[int]) -> Iterator[None]:
    """Lets a model's output after a prompt begin with some tokens, which it reads as if it had chosen them."""
    import torch

    n = len(model.encode(prompt))

    def choose(module: Any, given: Any, named: dict[str, Any], output: Any) -> Any:
        at = int(named["position_ids"][0, -1]) + 1 - n
        if 0 <= at < len(script):
            only = torch.full_like(output.logits, float("-inf"))
            only[..., script[at]] = 0
            output.logits = only
        return output

    handle = model.network.register_forward_hook(choose, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()
