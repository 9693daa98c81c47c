"""Models of the transformers library, greedy, on a CUDA device where there is one, else on the CPU."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from builders.device import DType, device_name, dtype_name
from builders.errors import SetupError
from eval_harness.models.back_end import Attention
from eval_harness.models.base import MARKS, Generation, GenerationError
from eval_harness.models.limits import Limit, chosen, limit_of
from eval_harness.models.network import moving_rope, shares_prefixes
from eval_harness.models.prefix import prefilled, shared_length, spread
from eval_harness.models.rendering import first_line
from eval_harness.models.stops import stop_ids
from eval_harness.models.template import Template, load_tokenizer
from eval_harness.models.thoughts import Marks, kept_tokens, named
from eval_harness.models.tokenised import Tokenised

_IMPLEMENTATIONS = {"sdpa": "sdpa", "flash": "flash_attention_2"}


class Prefilled(NamedTuple):
    """Token ids that prompts begin with, and their keys and values."""

    ids: list[int]
    cache: Any

    @property
    def n_tokens(self) -> int:
        """Its tokens."""
        return len(self.ids)


class HfModel:
    """A causal language model in a local folder with safetensors weights, under its tokenizer's chat template.

    `network` is the model of the library, in evaluation mode, on the device; `stops` are the ids that end an output.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        revision: str,
        dtype: DType = "auto",
        attention: Attention = "sdpa",
        system: str | None = None,
        *,
        fields: Mapping[str, Any] | None = None,
        marks: Marks | None = None,
        max_positions: int | None = None,
    ) -> None:
        tokenizer = load_tokenizer(folder, name)
        template = Template(tokenizer, name, system, fields, marks)  # what it refuses shows before weights are loaded
        network = _load(folder, name, dtype_name(dtype), attention).to(device_name()).eval()
        self._take(network, template, tokenizer, (folder, name, revision), attention, marks)
        self._bound(chosen(limit_of(network.config, tokenizer), max_positions, network.config))

    @classmethod
    def trained(cls, network: Any, folder: Path) -> "HfModel":
        """A network in training, with the tokenizer and template of a folder; it keeps its own settings and gradients.

        Nothing is shared between its prompts.
        """
        found = cls.__new__(cls)
        tokenizer = load_tokenizer(folder, folder.name)
        template = Template(tokenizer, folder.name)
        found._take(network, template, tokenizer, (folder, folder.name, "in training"))
        found._in_training, found._shares = True, False
        return found

    def _take(
        self,
        network: Any,
        template: Template,
        tokenizer: Any,
        known_as: tuple[Path, str, str],
        attention: Attention = "sdpa",
        marks: Marks | None = None,
    ) -> None:
        from transformers import GenerationConfig

        self.folder, self.name, self._revision = known_as
        self.network = network
        self._device = network.device.type
        self._attention = "eager" if network.config._attn_implementation == "eager" else attention
        self._in_training = False
        self._marks = marks
        self._unseen = _unseen_ids(tokenizer, marks)
        self.tokenizer = tokenizer
        self.template = template
        self.stops = stop_ids(tokenizer, self.name, network.config, network.generation_config)
        # A fresh one, since a model's own may ask for sampling or penalties.
        self._decoding = GenerationConfig(
            do_sample=False, eos_token_id=self.stops or None, pad_token_id=self._pad_id(), use_cache=True
        )
        self._alone = moving_rope(network.config)
        self._shares = shares_prefixes(network)
        self._bound(limit_of(network.config, tokenizer))

    def _bound(self, limit: Limit) -> None:
        self.max_positions, self.limit_source = limit

    def describe(self) -> dict[str, Any]:
        """Name, revision, number type, device, attention, template, limit, and whether a prefix can be shared."""
        return {
            "name": self.name,
            "revision": self._revision,
            "dtype": str(self.network.dtype).removeprefix("torch."),
            "device": _device_name(self._device),
            "attention": self._attention,
            **self.template.describe(),
            "thinking_marks": self._marks,
            "stops": self.tokenizer.convert_ids_to_tokens(self.stops),
            "max_positions": self.max_positions,
            "max_positions_from": self.limit_source,
            "shares_prefixes": self._shares,
        }

    def count(self, prompt: str) -> int:
        """Tokens of the prompt as it is sent."""
        return len(self.encode(prompt))

    def encode(self, prompt: str) -> list[int]:
        """Token ids of the prompt as it is sent."""
        return self.template.encode(prompt)

    def tokenised(self, prompt: str) -> Tokenised:
        """A prompt with its tokens."""
        return self.template.tokenised(prompt)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of an output, without control tokens but for the marks of a retrieval and of thoughts.

        Where the template begins thoughts for the model, they begin the text.
        """
        kept = [id for id in ids if id not in self._unseen]
        text = self.tokenizer.decode(kept, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        return self.template.opened + named(text, self._marks)

    def generate(self, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        """Greedy outputs of one left-padded batch."""
        encoded = [self.encode(prompt) for prompt in prompts]
        if self._alone and len(set(map(len, encoded))) > 1:
            return [self._generated([tokens], max_new_tokens)[0] for tokens in encoded]
        return self._generated(encoded, max_new_tokens)

    def prefill(self, prompts: Sequence[str]) -> Prefilled | None:
        """The longest run of tokens that the prompts begin with, None where this model cannot go on from it.

        It leaves each prompt a token of its own, from which the output follows.
        """
        if not self._shares:
            return None
        encoded = [self.encode(prompt) for prompt in prompts]
        ids = encoded[0][: min(shared_length(encoded), min(map(len, encoded)) - 1)]
        cache = self.guarded(lambda: prefilled(self.network, ids), f"{len(ids)} shared tokens") if ids else None
        return None if cache is None else Prefilled(ids, cache)

    def generate_after(self, prefix: Prefilled, prompts: Sequence[str], max_new_tokens: int) -> list[Generation]:
        """Greedy outputs of one batch of prompts that begin with `prefix`, padded between it and the rest of each."""
        encoded = [self.encode(prompt) for prompt in prompts]
        if self._attention != "sdpa" and len(set(map(len, encoded))) > 1:  # flash has no room for a gap
            return [self._generated([tokens], max_new_tokens, prefix)[0] for tokens in encoded]
        return self._generated(encoded, max_new_tokens, prefix)

    def _generated(
        self, encoded: Sequence[list[int]], max_new_tokens: int, prefix: Prefilled | None = None
    ) -> list[Generation]:
        width = max(map(len, encoded))
        if width + max_new_tokens > self.max_positions:
            raise GenerationError(f"{width} + {max_new_tokens} tokens do not fit into {self.max_positions}")
        ids, mask = _padded(encoded, self._pad_id(), prefix.n_tokens if prefix else 0)

        def generate() -> Any:
            known = {"cache": spread(self.network, prefix.cache, len(encoded))} if prefix else {}
            with _decoding_by(self.network, self._decoding):
                return self.network.generate(
                    input_ids=ids.to(self.network.device),
                    attention_mask=mask.to(self.network.device),
                    max_new_tokens=max_new_tokens,
                    **known,
                )

        output = self.guarded(generate, f"{len(encoded)} x {width} tokens")
        cached = prefix.n_tokens if prefix else 0
        new = output[:, width:].tolist()
        return [self._generation(len(tokens), cached, ids) for tokens, ids in zip(encoded, new, strict=True)]

    def guarded(self, compute: Callable[[], Any], size: str) -> Any:
        """What `compute` returns, without gradients; GenerationError, which names `size`, if memory runs out."""
        import torch

        try:
            with torch.no_grad() if self._in_training else torch.inference_mode():  # tensors of the latter cannot learn
                return compute()
        except torch.OutOfMemoryError as error:
            raise GenerationError(f"out of memory at {size}") from error

    def _generation(self, n_prompt_tokens: int, n_cached_tokens: int, new: list[int]) -> Generation:
        end = next((at for at, token in enumerate(new) if token in self.stops), None)
        text = self.decode(new[:end])
        n_new_tokens = len(new) if end is None else end
        return Generation(text, n_prompt_tokens, n_new_tokens, end is None, n_cached_tokens)

    def _pad_id(self) -> int:
        pad = self.tokenizer.pad_token_id
        return self.stops[0] if pad is None and self.stops else pad or 0  # masked, so any id will do


@contextmanager
def _decoding_by(network: Any, settings: Any) -> Iterator[None]:
    """Gives a network settings of generation for a while; those that it is given by argument would join its own."""
    own = network.generation_config
    network.generation_config = settings
    try:
        yield
    finally:
        network.generation_config = own


def _load(folder: Path, name: str, dtype: str, attention: Attention) -> Any:
    import torch
    from transformers import AutoModelForCausalLM
    from transformers.utils import is_flash_attn_2_available, logging

    if attention == "flash" and not (is_flash_attn_2_available() and device_name() == "cuda" and dtype != "float32"):
        raise SetupError(
            "--attention flash needs a CUDA GPU, the package flash-attn, and bfloat16 or float16; use --attention sdpa"
        )
    logging.disable_progress_bar()

    def load(implementation: str) -> Any:
        return AutoModelForCausalLM.from_pretrained(
            str(folder), dtype=getattr(torch, dtype), attn_implementation=implementation, use_safetensors=True
        )

    try:
        return load(_IMPLEMENTATIONS[attention])
    except (OSError, ValueError) as error:
        if attention == "sdpa" and "scaled_dot_product_attention" in str(error):  # Gemma 2, gpt-oss
            return load("eager")
        raise SetupError(f"model {name} cannot be loaded: {first_line(error)}") from None


def _padded(encoded: Sequence[list[int]], pad: int, shared: int) -> tuple[Any, Any]:
    """Ids and mask, both (prompts, longest), padded after the `shared` tokens that all rows begin with."""
    import torch

    width = max(map(len, encoded))
    ids = torch.full((len(encoded), width), pad, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, tokens in enumerate(encoded):
        start = width - (len(tokens) - shared)
        ids[row, :shared], ids[row, start:] = torch.tensor(tokens[:shared]), torch.tensor(tokens[shared:])
        mask[row, :shared] = mask[row, start:] = 1
    return ids, mask


def _unseen_ids(tokenizer: Any, marks: Marks | None) -> set[int]:
    """The control tokens that are left out of an output's text."""
    special = {id: token.content for id, token in tokenizer.added_tokens_decoder.items() if token.special}
    special |= dict(zip(tokenizer.all_special_ids, tokenizer.all_special_tokens, strict=True))
    kept = {*MARKS, *kept_tokens({*special.values()}, marks)}
    return {id for id, content in special.items() if content not in kept}


def _device_name(device: str) -> str:
    import torch

    return str(torch.cuda.get_device_name()) if device == "cuda" else device
