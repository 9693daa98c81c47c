"""Prepares the initial weights, adds adapters, and writes the checkpoint of the best weights."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builders.errors import SetupError
from eval_harness.models.stops import end_of_output
from eval_harness.models.template import first_line, load_config, load_tokenizer
from eval_harness.train.encode import add_marks


def write_start(folder: Path, name: str, out: Path, *, marks: bool, rope_base: float | None, max_length: int) -> None:
    """Writes the prepared base model with its tokenizer.

    New special tokens are initialised with the mean of all token embeddings. A RoPE base raises the model's
    positions to `max_length` if it had fewer.
    """
    tokenizer = load_tokenizer(folder, name)
    network = load_network(folder, name, "auto")
    new = add_marks(tokenizer) if marks else []
    _set_rope(network.config, tokenizer, name, rope_base, max_length)
    _add_tokens(network, new, len(tokenizer))
    network.generation_config = _greedy(network.generation_config, tokenizer, end_of_output(tokenizer, name))
    network.save_pretrained(out)
    tokenizer.save_pretrained(out)


def load_network(folder: Path, name: str, dtype: str) -> Any:
    """The causal model in a folder; `auto` keeps the dtype of its file. SetupError if it cannot be loaded."""
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        return AutoModelForCausalLM.from_pretrained(str(folder), dtype=dtype, use_safetensors=True)
    except (OSError, ValueError) as error:
        raise SetupError(f"model {name} cannot be loaded: {first_line(error)}") from None


def with_adapters(network: Any, rank: int, new_tokens: Sequence[int]) -> Any:
    """A model with LoRA adapters of a rank on its linear layers (Hu et al., 2021) and trainable new tokens."""
    import peft

    rows = {place: list(new_tokens) for place in _embeddings(network)} if new_tokens else None
    config = peft.LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        lora_dropout=0.0,
        target_modules="all-linear",
        trainable_token_indices=rows,
        task_type="CAUSAL_LM",
    )
    return peft.get_peft_model(network, config)


def write_finished(best: Path, start: Path, out: Path, *, lora: bool) -> None:
    """Writes a checkpoint of the best weights in the dtype of the base model; adapters are merged."""
    import torch
    from transformers import GenerationConfig

    dtype = load_config(start, start.name).dtype or torch.float32
    if lora:
        # Merge in float32, so that the sum is rounded once.
        network = _adapted(load_network(start, start.name, "float32"), best).merge_and_unload().to(dtype)
    else:
        network = load_network(best, best.name, str(dtype).removeprefix("torch."))
    network.config.use_cache = True  # training turned it off
    network.generation_config = GenerationConfig.from_pretrained(str(start))
    network.save_pretrained(out)
    load_tokenizer(start, start.name).save_pretrained(out)


def _adapted(network: Any, folder: Path) -> Any:
    """A model with the adapters in a folder; RuntimeError if some are missing, where peft only warns."""
    import peft

    found = peft.PeftModel.from_pretrained(network, str(folder))
    if lost := peft.get_peft_model_state_dict(found).keys() - peft.load_peft_weights(str(folder), device="cpu").keys():
        raise RuntimeError(f"{folder} lacks {len(lost)} adapters, such as {min(lost)}")
    return found


def new_tokens(start: Path, base: Path, name: str) -> list[int]:
    """The ids that the prepared tokenizer adds to that of the base model."""
    return sorted(range(len(load_tokenizer(base, name)), len(load_tokenizer(start, name))))


def _add_tokens(network: Any, new: Sequence[int], n_tokens: int) -> None:
    """Initialises input and output embeddings of new tokens with the mean of the existing ones."""
    import torch

    if not new:
        return
    if n_tokens > network.get_input_embeddings().weight.shape[0]:
        network.resize_token_embeddings(n_tokens, mean_resizing=False)
    known = n_tokens - len(new)
    with torch.no_grad():
        for module in (network.get_input_embeddings(), network.get_output_embeddings()):
            for values in (module.weight, getattr(module, "bias", None)):
                if values is not None:
                    values[list(new)] = values[:known].float().mean(dim=0).to(values.dtype)


def _embeddings(network: Any) -> list[str]:
    """The names of the input embedding and, if its weights are not tied, of the output embedding."""
    wanted = [network.get_input_embeddings()]
    if not network.config.get_text_config().tie_word_embeddings:
        wanted.append(network.get_output_embeddings())
    return [name for name, module in network.named_modules() if any(module is one for one in wanted)]


def _set_rope(config: Any, tokenizer: Any, name: str, base: float | None, max_length: int) -> None:
    if base is None:
        return
    inner = config.get_text_config()
    rope = getattr(inner, "rope_parameters", None) or {}
    if "rope_theta" not in rope:
        raise SetupError(f"{name} has no single RoPE base, so --rope-base cannot be set; leave it out")
    rope["rope_theta"] = base
    inner.max_position_embeddings = max(inner.max_position_embeddings, max_length)
    tokenizer.model_max_length = max(tokenizer.model_max_length, max_length)


def _greedy(given: Any, tokenizer: Any, end: int) -> Any:
    """Generation settings that end an output with the model's own end tokens or with the learned one."""
    from transformers import GenerationConfig

    own = given.eos_token_id
    ends = {end, *(own if isinstance(own, list) else [own])} - {None}
    pad = end if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    return GenerationConfig(eos_token_id=sorted(ends), bos_token_id=given.bos_token_id, pad_token_id=pad)
