"""The limit of a model by its configuration; numbers of real models are those of their model cards."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.models.hf import HfModel
from eval_harness.models.limits import UNKNOWN, chosen, limit_of
from tests.eval_harness.conftest import save_model

UNSET = SimpleNamespace(model_max_length=int(1e30))
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
YARN = {"rope_type": "yarn", "original_max_position_embeddings": 4096}
LONG = {"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [1.0] * 4}
SMALL = {"hidden_size": 32, "num_attention_heads": 4, "num_key_value_heads": 2}


def config(folder: Path, model_type: str, **fields: Any) -> Any:
    from transformers import AutoConfig

    (folder / "config.json").write_text(json.dumps({"model_type": model_type, **SMALL, **fields}))
    return AutoConfig.from_pretrained(folder)


@pytest.mark.parametrize(
    ("model_type", "fields", "want"),
    [
        ("qwen2", {"rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}}, 131072),
        ("qwen2", {"rope_scaling": {"rope_type": "yarn", "factor": 4.0}}, 131072),
        ("qwen3", {"rope_parameters": {"rope_type": "yarn", "factor": 2.0, "rope_theta": 1e6}}, 65536),
        (
            "gpt_oss",
            {"rope_scaling": YARN | {"factor": 8.0}},
            32768,
        ),
        (
            "gpt_oss",
            {"rope_scaling": YARN | {"factor": 2.0}},
            32768,
        ),
        ("llama", {"rope_scaling": {**LLAMA3, "original_max_position_embeddings": 8192}}, 32768),
        ("llama", {"rope_scaling": {"type": "linear", "factor": 4.0}}, 131072),
        ("llama", {"rope_scaling": {"type": "dynamic", "factor": 2.0}}, 65536),
        ("phi3", {"rope_scaling": LONG, "original_max_position_embeddings": 4096, "pad_token_id": 0}, 32768),
        ("llama", {"rope_scaling": None}, 32768),
    ],
)
def test_scaled_positions(tmp_path: Path, model_type: str, fields: dict[str, Any], want: int) -> None:
    found = limit_of(config(tmp_path, model_type, max_position_embeddings=32768, **fields), UNSET)
    assert found.tokens == want
    assert ("RoPE scaling" in found.source) == (want > 32768)


def test_a_nested_configuration_is_read(tmp_path: Path) -> None:
    """Gemma 3 counts its linear scaling in its positions."""
    text = {"model_type": "gemma3_text", "max_position_embeddings": 131072, **SMALL}
    scaled = text | {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}
    assert limit_of(config(tmp_path, "gemma3", text_config=scaled), UNSET).tokens == 131072
    mistral = {"model_type": "mistral", "max_position_embeddings": 4096, **SMALL}
    mistral["rope_scaling"] = {"type": "yarn", "factor": 2.0, "original_max_position_embeddings": 4096}
    assert limit_of(config(tmp_path, "mistral3", text_config=mistral), UNSET).tokens == 8192


def test_a_tokenizers_smaller_limit_counts_unless_it_repeats_the_number_before_scaling(tmp_path: Path) -> None:
    yarn = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
    found = config(tmp_path, "qwen2", max_position_embeddings=32768, rope_scaling=yarn)
    assert limit_of(found, SimpleNamespace(model_max_length=32768)).tokens == 131072
    assert limit_of(found, SimpleNamespace(model_max_length=100000)) == (100000, "model_max_length of the tokenizer")
    plain = config(tmp_path, "qwen2", max_position_embeddings=32768)
    assert limit_of(plain, SimpleNamespace(model_max_length=8192)).tokens == 8192


def test_a_model_without_positions_has_no_limit(tmp_path: Path) -> None:
    assert limit_of(config(tmp_path, "mamba"), UNSET).tokens == UNKNOWN
    assert limit_of(config(tmp_path, "mamba"), SimpleNamespace(model_max_length=2048)).tokens == 2048


def test_the_users_limit_goes_before_the_models(tmp_path: Path) -> None:
    folder = save_model(tmp_path / "m", positions=64)
    model = HfModel(folder, "m", "r", "float32", max_positions=100)
    assert (model.max_positions, model.limit_source) == (100, "--max-positions")
    assert model.describe()["max_positions_from"] == "--max-positions"
    table = config(tmp_path, "gpt2", n_positions=64)
    assert chosen(limit_of(table, UNSET), 32, table) == (32, "--max-positions")
    with pytest.raises(SetupError, match="--max-positions 65: the model has a table of 64 positions"):
        chosen(limit_of(table, UNSET), 65, table)
