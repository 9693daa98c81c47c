"""Models of the transformers library, greedy, on a CUDA device where there is one, else on the CPU."""

import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from builders.device import DType, device_name, dtype_name
from builders.errors import SetupError
from eval_harness.models.base import Generation, GenerationError

_TURN_ENDS = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>")  # a chat model may stop here and not say so in its config
_USER = "\x02user text\x03"
_TEMPLATE_DATE = "26 Jul 2024"  # some templates write the day of the run, which no result may depend on


class HfModel:
    """A causal language model in a local folder with safetensors weights, under its tokenizer's chat template.

    The template is applied once, and special tokens that stand in a prompt's text are read as plain text.
    """

    def __init__(self, folder: Path, name: str, revision: str, dtype: DType = "auto") -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig
        from transformers.utils import logging

        logging.disable_progress_bar()
        self.name = name
        self._revision = revision
        self._device = device_name()
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(str(folder))
            model: Any = AutoModelForCausalLM.from_pretrained(
                str(folder), dtype=getattr(torch, dtype_name(dtype)), attn_implementation="sdpa", use_safetensors=True
            )
        except (OSError, ValueError) as error:
            raise SetupError(f"model {name} cannot be loaded: {str(error).strip().splitlines()[0]}") from None
        self._frame = _frame(self._tokenizer, name)
        self._stops = _stop_ids(self._tokenizer, model.generation_config, chat=self._frame is not None)
        # A fresh one, since a model's own may ask for sampling or penalties.
        model.generation_config = GenerationConfig(
            do_sample=False, eos_token_id=self._stops or None, pad_token_id=self._pad_id(), use_cache=True
        )
        self._model = model.to(self._device).eval()
        self.max_positions = _max_positions(model.config, self._tokenizer)
        self._special = re.compile("|".join(map(re.escape, _special_tokens(self._tokenizer))) or r"(?!)")

    def describe(self) -> dict[str, Any]:
        """Name, revision, dtype, device, template, begin-of-text token and limit."""
        template = self._tokenizer.chat_template if self._frame else None
        return {
            "name": self.name,
            "revision": self._revision,
            "dtype": str(self._model.dtype).removeprefix("torch."),
            "device": _device_name(self._device),
            "chat_template_sha256": template and sha256(str(template).encode()).hexdigest(),
            "starts_with_bos": self.encode("")[:1] == [self._tokenizer.bos_token_id],
            "max_positions": self.max_positions,
        }

    def count(self, prompt: str) -> int:
        """Tokens of the prompt as it is sent."""
        return len(self.encode(prompt))

    def encode(self, prompt: str) -> list[int]:
        """Token ids of the prompt inside the chat template, or after the tokenizer's own prefix where there is none."""
        if self._frame is None:
            return self._ids(prompt, add_special_tokens=True, split_special_tokens=True)
        before, after = self._frame
        if not self._special.search(prompt):
            return self._ids(before + prompt + after, add_special_tokens=False)
        # Cut at the template's special tokens nearest to the text, where the tokenizer itself cuts.
        start = max((found.end() for found in self._special.finditer(before)), default=0)
        found = self._special.search(after)
        end = found.start() if found else len(after)
        return [
            *self._ids(before[:start], add_special_tokens=False),
            *self._ids(before[start:] + prompt + after[:end], add_special_tokens=False, split_special_tokens=True),
            *self._ids(after[end:], add_special_tokens=False),
        ]

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        """Greedy outputs of one left-padded batch."""
        import torch

        encoded = [self.encode(prompt) for prompt in prompts]
        width = max(map(len, encoded))
        if width + max_new_tokens > self.max_positions:
            raise GenerationError(f"{width} + {max_new_tokens} tokens do not fit into {self.max_positions}")
        ids = torch.full((len(encoded), width), self._pad_id(), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, tokens in enumerate(encoded):
            ids[row, width - len(tokens) :] = torch.tensor(tokens)
            mask[row, width - len(tokens) :] = 1
        try:
            with torch.inference_mode():
                output = self._model.generate(
                    input_ids=ids.to(self._device),
                    attention_mask=mask.to(self._device),
                    max_new_tokens=max_new_tokens,
                )
        except torch.OutOfMemoryError as error:
            raise GenerationError(f"out of memory at {len(encoded)} x {width} tokens") from error
        return [self._generation(tokens, new) for tokens, new in zip(encoded, output[:, width:].tolist(), strict=True)]

    def _generation(self, prompt: list[int], new: list[int]) -> Generation:
        end = next((at for at, token in enumerate(new) if token in self._stops), None)
        text = self._tokenizer.decode(new[:end], skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return Generation(text, len(prompt), len(new) if end is None else end, truncated=end is None)

    def _ids(self, text: str, **options: bool) -> list[int]:
        ids: list[int] = self._tokenizer(text, verbose=False, **options).input_ids
        return ids

    def _pad_id(self) -> int:
        pad = self._tokenizer.pad_token_id
        return self._stops[0] if pad is None and self._stops else pad or 0  # masked, so any id will do


def _frame(tokenizer: Any, name: str) -> tuple[str, str] | None:
    """What the chat template puts before and after the user's text, untrimmed; None for a model without template."""
    if not tokenizer.chat_template:
        return None
    rendered: str = tokenizer.apply_chat_template(
        [{"role": "user", "content": _USER}], tokenize=False, add_generation_prompt=True, date_string=_TEMPLATE_DATE
    )
    before, found, after = rendered.partition(_USER)
    if not found or _USER in after:
        raise SetupError(f"the chat template of {name} does not put the user's text in once and as it is")
    return before, after


def _stop_ids(tokenizer: Any, generation_config: Any, *, chat: bool) -> list[int]:
    own = generation_config.eos_token_id
    ids = {tokenizer.eos_token_id, *(own if isinstance(own, list) else [own])}
    if chat:
        ids.update(tokenizer.get_vocab().get(token) for token in _TURN_ENDS)
    return sorted(ids - {None})


def _special_tokens(tokenizer: Any) -> list[str]:
    """Texts that the tokenizer would read as control tokens, longest first."""
    added = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
    return sorted({*tokenizer.all_special_tokens, *added}, key=lambda token: (-len(token), token))


def _max_positions(config: Any, tokenizer: Any) -> int:
    """The smaller of the config's positions and the tokenizer's limit, which is about 1e30 where it is not set."""
    positions = getattr(config.get_text_config(), "max_position_embeddings", None)
    return min(limit for limit in (positions, int(tokenizer.model_max_length)) if limit)


def _device_name(device: str) -> str:
    import torch

    return str(torch.cuda.get_device_name()) if device == "cuda" else device
