"""A dataset of a few instances, and tiny random models with a byte-level tokenizer."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.format1 import config_facts, row_of
from builders.schema import INSTANCES
from tests.eval_harness.specs import SPECS
from tests.manifests import write_manifest_2

Rows = Sequence[dict[str, Any]]

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content | trim }}<|im_end|>"
    "\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = {"<s>": 0, "</s>": 1, "<|im_start|>": 2, "<|im_end|>": 3}


def instance(id: str, task: str, query: str, answers: list[str], gold: list[int], texts: list[str]) -> dict[str, Any]:
    """A row of the dataset with one passage per text, titled by its place."""
    passages = [
        {
            "pid": f"{place}:0",
            "title": f"Title {place}",
            "text": text,
            "role": "gold" if place in gold else "random",
            "retrievers": [],
            "rank": None,
            "score": None,
        }
        for place, text in enumerate(texts)
    ]
    fields: dict[str, Any] = dict.fromkeys(INSTANCES.names)
    return fields | {
        "id": id,
        "task": task,
        "query": query,
        "answers": answers,
        "gold": gold,
        "passages": passages,
    }


NQ = instance("nq-1", "nq", "who wrote Emma", ["Jane Austen"], [1], ["Rain falls.", "Emma is by Jane Austen."])
NQ_2 = instance("nq-2", "nq", "capital of Peru", ["Lima"], [0], ["Lima is the capital.", "Snow melts.", "Ice is cold."])
FEVER = instance("fever-1", "fever", "Osmium is dense.", ["SUPPORTS"], [0], ["Osmium is dense indeed."])
WOW = instance("wow-1", "wow", "I like Petra.", ["Petra is a city of rock."], [0], ["Petra is cut in rock."])
ROWS = (NQ, FEVER, NQ_2, WOW)


def write_config(folder: Path, config: str, rows: Rows, name: str = "test-00000-of-00001.parquet") -> None:
    """Writes one file of a config."""
    path = folder / config / name
    path.parent.mkdir(parents=True, exist_ok=True)
    family = config_facts(config, {})["family"]
    upgraded = [row_of(row, config, family, SPECS[row["task"]]) for row in rows]
    pq.write_table(pa.Table.from_pylist(upgraded, INSTANCES), path)


@pytest.fixture
def make_dataset(tmp_path: Path) -> Callable[..., Path]:
    """Makes a dataset folder from configs and their rows."""

    def make(**configs: Rows) -> Path:
        folder = tmp_path / "data"
        for config, rows in configs.items():
            write_config(folder, config.removeprefix("c"), rows)
        write_manifest_2(folder, "tiny")
        return folder

    return make


@pytest.fixture
def dataset_folder(make_dataset: Callable[..., Path]) -> Path:
    """Two configs of the same four instances."""
    return make_dataset(c1k_p0=ROWS, c1k_p75=ROWS)


def save_tokenizer(folder: Path, *, chat: bool) -> None:
    """Saves a tokenizer with one token per byte; it puts <s> first, and has a chat template when `chat`."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = SPECIAL | {
        byte: number for number, byte in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()), start=len(SPECIAL))
    }
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 0)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
    )
    if chat:
        fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)


def save_model(folder: Path, *, kind: str = "llama", chat: bool = True, positions: int = 4096) -> Path:
    """Saves a random one- or two-layer model whose outputs depend strongly on its prompt, with its tokenizer."""
    save_network(folder, kind=kind, positions=positions)
    save_tokenizer(folder, chat=chat)
    return folder


def save_network(folder: Path, *, kind: str = "llama", positions: int = 4096, **vocabulary: int) -> None:
    """Saves the weights of such a model; `vocabulary` is its size and special tokens, by default of bytes."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    shared: dict[str, Any] = {"vocab_size": 260, "bos_token_id": 0, "eos_token_id": 1, "initializer_range": 0.5}
    shared |= vocabulary
    model: Any
    if kind == "llama":
        model = LlamaForCausalLM(
            LlamaConfig(
                hidden_size=32,
                intermediate_size=64,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=positions,
                **shared,
            )
        )
    else:
        model = GPT2LMHeadModel(GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=positions, **shared))
    # A checkpoint may ask for sampling and penalties; a greedy run leaves them aside.
    model.generation_config.update(do_sample=True, temperature=0.3, top_p=0.5, repetition_penalty=5.0)
    model.save_pretrained(folder)


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama with a chat template."""
    return save_model(tmp_path_factory.mktemp("models") / "tiny-chat")


@pytest.fixture(scope="session")
def base_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random GPT-2 without a chat template."""
    return save_model(tmp_path_factory.mktemp("models") / "tiny-base", kind="gpt2", chat=False)


@pytest.fixture(scope="session")
def marked_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random Llama whose tokenizer has the marks of a retrieval."""
    from transformers import AddedToken, AutoModelForCausalLM, AutoTokenizer

    from eval_harness.models.base import MARKS

    folder = save_model(tmp_path_factory.mktemp("models") / "tiny-marked")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([AddedToken(mark, special=True, normalized=False) for mark in MARKS], special_tokens=True)
    network = AutoModelForCausalLM.from_pretrained(folder)
    network.resize_token_embeddings(len(tokenizer))
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
