"""Weights that training begins with, adapters, and the checkpoint that is made."""

import json
from pathlib import Path
from typing import Any

import pytest

from builders.errors import SetupError
from eval_harness.models.template import load_tokenizer
from eval_harness.train.network import load_network, new_tokens, with_adapters, write_finished, write_start
from tests.eval_harness.conftest import save_model

MARKS = ["<RETRIEVAL>", "</RETRIEVAL>"]


def started(base: Path, out: Path, **chosen: Any) -> Any:
    """The network of a start, which is written to `out`."""
    write_start(base, "tiny", out, **{"marks": True, "rope_base": None, "max_length": 8192} | chosen)
    return load_network(out, "tiny", "auto")


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_marks_begin_as_the_mean_of_the_tokens_known_and_are_saved_with_the_tokenizer(
    kind: str, tmp_path: Path
) -> None:
    import torch

    base = save_model(tmp_path / "base", kind=kind, chat=kind == "llama")
    network = started(base, tmp_path / "start")
    before = load_network(base, "tiny", "auto")
    tokenizer = load_tokenizer(tmp_path / "start", "tiny")
    assert tokenizer.convert_tokens_to_ids(MARKS) == [260, 261]
    assert tokenizer("a<RETRIEVAL>[1]</RETRIEVAL>", add_special_tokens=False).input_ids[1] == 260
    assert network.config.vocab_size == 262
    for find in ("get_input_embeddings", "get_output_embeddings"):
        old, new = (getattr(one, find)().weight.detach() for one in (before, network))
        torch.testing.assert_close(new[:260], old)
        torch.testing.assert_close(new[260:], old.mean(dim=0).expand(2, -1))
    assert new_tokens(tmp_path / "start", base, "tiny") == [260, 261]


def test_marks_that_are_there_already_keep_what_they_learned(tmp_path: Path) -> None:
    import torch

    base = save_model(tmp_path / "base")
    started(base, tmp_path / "one")
    learned = load_network(tmp_path / "one", "tiny", "auto")
    with torch.no_grad():
        learned.get_input_embeddings().weight[260:] = 3.0
    learned.save_pretrained(tmp_path / "one")
    again = started(tmp_path / "one", tmp_path / "two")
    assert again.get_input_embeddings().weight[260:].eq(3.0).all()
    assert new_tokens(tmp_path / "two", tmp_path / "one", "tiny") == []


def test_without_marks_the_weights_are_those_of_the_base(tmp_path: Path) -> None:
    import torch

    base = save_model(tmp_path / "base")
    network, before = started(base, tmp_path / "start", marks=False), load_network(base, "tiny", "auto")
    torch.testing.assert_close(network.state_dict(), before.state_dict())
    assert len(load_tokenizer(tmp_path / "start", "tiny")) == 260


def test_what_ends_an_output_is_learned_and_is_said_in_the_checkpoint(tmp_path: Path) -> None:
    started(save_model(tmp_path / "base"), tmp_path / "start")
    said = json.loads((tmp_path / "start" / "generation_config.json").read_text())
    assert (said["eos_token_id"], said.get("do_sample", False)) == ([1, 3], False)


def test_a_base_of_the_rotation_takes_the_model_to_longer_contexts(tmp_path: Path) -> None:
    base = save_model(tmp_path / "base", positions=512)
    network = started(base, tmp_path / "start", rope_base=1e6, max_length=2048)
    assert network.config.rope_parameters["rope_theta"] == 1e6
    assert network.config.max_position_embeddings == 2048
    shorter = started(base, tmp_path / "short", rope_base=1e6, max_length=128)
    assert shorter.config.max_position_embeddings == 512
    plain = started(base, tmp_path / "plain", max_length=2048)
    assert plain.config.max_position_embeddings == 512
    counted = save_model(tmp_path / "counted", kind="gpt2", chat=False)
    with pytest.raises(SetupError, match="tiny has no single RoPE base"):
        started(counted, tmp_path / "no", rope_base=1e6)


@pytest.mark.parametrize("tied", [False, True])
def test_adapters_are_merged_so_that_any_tool_can_load_what_was_learned(tied: bool, tmp_path: Path) -> None:
    import torch

    base = save_model(tmp_path / "base")
    if tied:
        tie(base)
    network = with_adapters(started(base, tmp_path / "start"), 4, [260, 261])
    learned = {name for name, weights in network.named_parameters() if weights.requires_grad}
    assert all("lora_" in name or "trainable_tokens_delta" in name for name in learned)
    with torch.no_grad():
        for name, weights in network.named_parameters():
            if name in learned:
                weights += torch.randn_like(weights) / 10
    network.save_pretrained(tmp_path / "best")
    write_finished(tmp_path / "best", tmp_path / "start", tmp_path / "out", lora=True)
    merged = load_network(tmp_path / "out", "tiny", "float32")
    ids = torch.tensor([[0, 5, 260, 30, 261, 7]])
    with torch.no_grad():
        torch.testing.assert_close(merged(ids).logits, network.eval()(ids).logits, atol=1e-4, rtol=1e-4)
        assert (merged(ids).logits - load_network(tmp_path / "start", "tiny", "float32")(ids).logits).abs().max() > 0.01
    start = load_network(tmp_path / "start", "tiny", "float32")
    for find in ("get_input_embeddings", "get_output_embeddings"):
        old, new = (getattr(one, find)().weight for one in (start, merged))
        torch.testing.assert_close(new[:260], old[:260])
        assert not torch.allclose(new[260:], old[260:])
    assert {path.suffix for path in (tmp_path / "out").iterdir()} <= {".json", ".safetensors", ".jinja"}


@pytest.mark.filterwarnings("ignore:Found missing adapter keys")
def test_adapters_that_were_not_saved_are_missed(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    base = save_model(tmp_path / "base")
    with_adapters(started(base, tmp_path / "start"), 4, [260, 261]).save_pretrained(tmp_path / "best")
    file = tmp_path / "best" / "adapter_model.safetensors"
    kept = {name: weights for name, weights in load_file(file).items() if "layers.0.mlp.up_proj" not in name}
    save_file(kept, file)
    with pytest.raises(RuntimeError, match=r"lacks 2 adapters, such as .*layers\.0\.mlp\.up_proj"):
        write_finished(tmp_path / "best", tmp_path / "start", tmp_path / "out", lora=True)


def tie(folder: Path) -> None:
    """Makes the embeddings in and out of a checkpoint one."""
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(folder)
    config.tie_word_embeddings = True
    network = AutoModelForCausalLM.from_pretrained(folder, config=config)
    network.generation_config.do_sample = True
    network.save_pretrained(folder)


def test_the_checkpoint_has_the_number_type_of_the_base(tmp_path: Path) -> None:
    import torch

    base = save_model(tmp_path / "base")
    short = load_network(base, "tiny", "bfloat16")
    short.generation_config.do_sample = True
    short.save_pretrained(base)
    start = started(base, tmp_path / "start")
    assert start.dtype == torch.bfloat16
    load_network(tmp_path / "start", "tiny", "float32").save_pretrained(tmp_path / "best")
    write_finished(tmp_path / "best", tmp_path / "start", tmp_path / "out", lora=False)
    assert load_network(tmp_path / "out", "tiny", "auto").dtype == torch.bfloat16
