"""Eight instances that a tiny model can learn by heart, in a dataset with every split, and that model."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builders.format1 import spec_of
from builders.prompts import render
from eval_harness.train.head.settings import HeadSettings
from tests.eval_harness.conftest import CHAT_TEMPLATE, SPECIAL, instance, write_config
from tests.manifests import write_manifest_2

COLOURS = ("red", "blue", "gold", "pink", "jade", "teal", "grey", "plum")
VOCABULARY = 420

BY_HEART = HeadSettings(
    "da",
    ("1k",),
    k=2,
    steps=140,
    lr=3e-3,
    head_lr=1e-2,
    width=64,
    eval_every=140,
    patience=0,
    dtype="float32",
)
SHORT = replace(BY_HEART, steps=6, accumulate=2, eval_every=2)


def rows() -> list[dict[str, Any]]:
    """Questions over three to five passages, two of which are gold for every fourth."""
    found = []
    for at, colour in enumerate(COLOURS):
        texts = [f"box {other} is {COLOURS[(other + at) % 8]}" for other in range(3 + at % 3)]
        gold = [at % len(texts)] + ([(at + 1) % len(texts)] if at % 4 == 3 else [])
        task = "fever" if at == 5 else "nq"
        answers = ["SUPPORTS"] if task == "fever" else [colour]
        found.append(instance(f"{task}-{at}", task, f"box {at}?", answers, gold, texts))
    return found


@pytest.fixture(scope="session")
def boxes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset whose other splits hold what is learned."""
    folder = tmp_path_factory.mktemp("boxes")
    for split in ("train", "validation", "test"):
        write_config(folder, "1k", rows(), f"{split}-00000-of-00001.parquet")
    write_manifest_2(folder, "boxes")
    return folder


@pytest.fixture(scope="session")
def learner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random Llama that learns fast, with a tokenizer that knows the words of the instances."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("models") / "learner"
    config = LlamaConfig(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        vocab_size=VOCABULARY,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=0.05,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    _tokenizer().save_pretrained(folder)
    return folder


def log_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "train_log.jsonl").read_text().splitlines()]


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer: Any = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = [
        render(spec_of(row["task"]), row["query"], [(one["title"], one["text"]) for one in row["passages"]]).text
        for row in rows()
    ]
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast
