"""A model of two layers in which one head, and no other, attends by the identity of tokens."""

import random
from pathlib import Path
from typing import Any

LAYER, HEAD = 1, 2
WORDS = [f"w{n}" for n in range(200)]
KEYS = [f"key{n}" for n in range(20)]
FRAME = """
    Please answer the following question given passages : ID Title Context Question Answer what is near ? . T
""".split()


def save_retriever(folder: Path) -> Path:
    """Saves the model with a tokenizer of whole words."""
    import torch
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    names = ["<unk>", "<s>", "</s>", *FRAME, *map(str, range(40)), *WORDS, *KEYS]
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(names)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\w+|[^\w\s]"), "removed", invert=True)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(folder)
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(names),
        hidden_size=256,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=64,
        max_position_embeddings=2048,
        rope_parameters={"rope_type": "default", "rope_theta": 1e12},
        initializer_range=0.02,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight.normal_()
        for layer in model.model.layers:  # each token stays itself from layer to layer
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        attention: Any = model.model.layers[LAYER].self_attn
        slow = [*range(16, 32), *range(48, 64)]  # what rotates least with the position
        identity = torch.zeros(64, 256)
        identity[slow] = torch.randn(len(slow), 256) / 16
        rows = slice(64 * HEAD, 64 * (HEAD + 1))
        attention.q_proj.weight[rows] = 12 * identity
        attention.k_proj.weight[rows] = identity
    model.save_pretrained(folder)
    return folder


def rows(n: int, split: str) -> list[dict[str, Any]]:
    """Instances whose question names a word that stands in one passage alone."""
    from tests.eval_harness.conftest import instance

    found = []
    for number in range(n):
        rng = random.Random(f"{split} {number}")
        key, gold = rng.choice(KEYS), rng.randrange(8)
        texts = [" ".join(rng.sample(WORDS, 12)) for _ in range(8)]
        texts[gold] = " ".join([*texts[gold].split()[:5], key, *texts[gold].split()[6:]])
        found.append(
            instance(f"nq-{split}{number}", "nq", f"what is near {key} ?", [texts[gold].split()[0]], [gold], texts)
        )
    return found
