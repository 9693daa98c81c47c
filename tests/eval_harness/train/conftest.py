"""A dataset of eight questions to learn by heart, and trainings of a tiny model on it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builders.format1 import spec_of
from builders.prompts import render
from eval_harness.models.training import Training
from eval_harness.train.job import train
from eval_harness.train.settings import Settings
from eval_harness.train.sft import SFT
from tests.eval_harness.conftest import (
    CHAT_TEMPLATE,
    SPECIAL,
    Rows,
    instance,
    save_model,
    write_config,
)
from tests.manifests import write_manifest_2

PLACES = ("Lima", "Oslo", "Rome", "Cairo")
CONFIG = "1k_p0"
VOCABULARY = 420


def learnable() -> list[dict[str, Any]]:
    """Eight short instances of three tasks, each with gold at another place."""
    rows = []
    for n in range(8):
        texts = [f"{PLACES[(n + turn) % 4]} is {turn}." for turn in range(2)]
        gold = n // 4
        task, answer = [("nq", PLACES[(n + gold) % 4]), ("fever", "SUPPORTS"), ("wow", f"It is {n}.")][n % 3]
        rows.append(instance(f"{task}-{n}", task, f"q{n}", [answer], [gold], texts))
    return rows


def write_dataset(folder: Path, train: Rows, validation: Rows, config: str = CONFIG) -> Path:
    """A dataset with both splits."""
    for split, rows in (("train", train), ("validation", validation)):
        write_config(folder, config, rows, f"{split}-00000-of-00001.parquet")
    write_manifest_2(folder, "tiny")
    return folder


def write_splits(folder: Path) -> Path:
    """The eight instances as train, validation and test split of a dataset that a report reads too."""
    for split in ("train", "validation", "test"):
        write_config(folder, CONFIG, learnable(), f"{split}-00000-of-00001.parquet")
    write_manifest_2(folder, "tiny")
    return folder


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The eight instances, in both splits."""
    return write_dataset(tmp_path_factory.mktemp("learnable") / "data", learnable(), learnable())


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama with a chat template."""
    return save_model(tmp_path_factory.mktemp("base") / "tiny")


@pytest.fixture(scope="session")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that learns the eight instances fast."""
    return save_learner(tmp_path_factory.mktemp("reader") / "tiny", learnable())


@pytest.fixture
def trained(dataset: Path, base: Path, tmp_path: Path) -> Callable[..., tuple[Path, Training]]:
    """Trains the tiny model for four steps, or as settings say; gives the checkpoint and its record."""

    def run(name: str = "out", folder: Path = dataset, model: Path = base, **chosen: Any) -> tuple[Path, Training]:
        record = train(folder, str(model), settings(**chosen), tmp_path / name, SFT)
        assert record is not None
        return tmp_path / name, record

    return run


def settings(**chosen: Any) -> Settings:
    """Settings of a short training on a CPU."""
    usual: dict[str, Any] = {"variant": "cci", "configs": (CONFIG,), "dtype": "float32", "lr": 1e-2}
    return Settings(**usual | {"steps": 4, "epochs": 1000, "eval_every": 2, "accumulate": 2} | chosen)


def losses(folder: Path) -> list[tuple[int, float, float]]:
    """Step, loss and loss on validation of each line of a log, -1 where a line has none."""
    lines = [json.loads(line) for line in (folder / "train_log.jsonl").read_text().splitlines()]
    return [(line["step"], line.get("loss", -1), line.get("validation_loss", -1)) for line in lines]


def save_learner(folder: Path, rows: Rows) -> Path:
    """Saves a small random Llama that learns fast, with a tokenizer that knows the words of some instances."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
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
    _tokenizer_of(rows).save_pretrained(folder)
    return folder


def _tokenizer_of(rows: Rows) -> Any:
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
        for row in rows
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
