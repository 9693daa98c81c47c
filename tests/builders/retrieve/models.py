"""Small encoders with random weights, made on the spot."""

from pathlib import Path
from typing import Any

from builders.bundled import bundled_file

_SIZE = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "initializer_range": 0.5,  # so that different texts get clearly different vectors
}


def dpr_pair(folder: Path) -> tuple[Path, Path]:
    """The folders of a question encoder and of a passage encoder with weights of their own."""
    from transformers import DPRConfig, DPRContextEncoder, DPRQuestionEncoder

    kinds = {"question": DPRQuestionEncoder, "ctx": DPRContextEncoder}
    for seed, (name, kind) in enumerate(kinds.items()):
        _save(kind, DPRConfig(**_SIZE), folder / name, seed)
    return folder / "question", folder / "ctx"


def contriever(folder: Path) -> Path:
    """The folder of a bare transformer, as Contriever is published."""
    from transformers import BertConfig, BertModel

    _save(BertModel, BertConfig(**_SIZE), folder / "contriever", seed=7)
    return folder / "contriever"


def _save(kind: Any, config: Any, folder: Path, seed: int) -> None:
    import torch
    from transformers import AutoTokenizer

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        kind(config).save_pretrained(folder)
    AutoTokenizer.from_pretrained(str(bundled_file("minilm").parent)).save_pretrained(folder)
