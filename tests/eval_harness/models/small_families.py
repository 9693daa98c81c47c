"""A random checkpoint of each model family: its architecture and configuration class, and a template with its traps."""
# ruff: noqa: E501 - templates

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}
HEADS = {**SMALL, "head_dim": 8}
YARN = {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LONG = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}


class Small(NamedTuple):
    """One checkpoint: configuration class and fields, control tokens (the first two begin and end a text), template.

    `ends` are the EOS tokens of config.json, beside which generation_config.json names the second token alone. `thinks`
    is an output of the family whose answer is Rome, `limit` and `layers` what is to be understood of it.
    """

    config: str
    fields: Mapping[str, Any]
    tokens: tuple[str, ...]
    template: str
    limit: int
    layers: str
    ends: tuple[str, ...] = ()
    rstrip: bool = False
    thinks: str = "Rome"


CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAMA_3 = (
    "{{ bos_token }}{% if date_string is not defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif %}"
    "{% if tools_in_user_message is not defined %}{% set tools_in_user_message = true %}{% endif %}"
    "<|start_header_id|>system<|end_header_id|>\n\nToday: {{ date_string }}\n\n{% if messages[0].role == 'system' %}"
    "{{ messages[0].content | trim }}{% set messages = messages[1:] %}{% endif %}<|eot_id|>{% for m in messages %}"
    "<|start_header_id|>{{ m.role }}<|end_header_id|>\n\n{{ m.content | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
QWEN_25 = "{% if messages[0].role != 'system' %}<|im_start|>system\nYou are of use.<|im_end|>\n{% endif %}" + CHATML
QWEN_3 = CHATML.replace(
    "assistant\n{% endif %}",
    "assistant\n{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}",
)
MISTRAL = (
    "{{ bos_token }}{% set today = strftime_now('%Y-%m-%d') %}{% if messages[0].role != 'system' %}[SYSTEM_PROMPT]"
    "Today is {{ today }}.[/SYSTEM_PROMPT]{% endif %}{% for m in messages %}{% if m.role == 'user' %}[INST]"
    "{{ m.content }}[/INST]{% elif m.role == 'system' %}[SYSTEM_PROMPT]{{ m.content }}[/SYSTEM_PROMPT]{% else %}"
    "{{ m.content }}{{ eos_token }}{% endif %}{% endfor %}"
)
GEMMA = (
    "{{ bos_token }}{% if messages[0].role == 'system' %}SYSTEM{% endif %}{% for m in messages %}"
    "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ first if loop.first else '' }}"
    "{{ m.content | trim }}<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
GEMMA_2 = GEMMA.replace("SYSTEM", "{{ raise_exception('System role not supported') }}").replace(
    "{{ first if loop.first else '' }}", ""
)
GEMMA_3 = "{% set first = '' %}" + GEMMA.replace(
    "SYSTEM", "{% set first = messages[0].content + '\n\n' %}{% set messages = messages[1:] %}"
)
PHI_35 = (
    "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% else %}{{ eos_token }}{% endif %}"
)
PHI_4 = (
    "{% for m in messages %}<|im_start|>{{ m.role }}<|im_sep|>{{ m.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant<|im_sep|>{% endif %}"
)
SMOLLM3 = (
    "{% if enable_thinking is not defined %}{% set enable_thinking = true %}{% endif %}"
    "{% set tools = xml_tools or python_tools %}{% set text = custom_instructions or '' %}"
    "{% if messages[0].role == 'system' %}{% set text = messages[0].content %}{% set messages = messages[1:] %}{% endif %}"
    "{% if '/no_think' in text %}{% set enable_thinking = false %}{% set text = text.replace('/no_think', '') %}{% endif %}"
    "<|im_start|>system\nToday: {{ strftime_now('%d %B %Y') }}\n{{ text }}<|im_end|>\n"
) + CHATML.replace(
    "assistant\n{% endif %}", "assistant\n{% if not enable_thinking %}<think>\n\n</think>\n{% endif %}{% endif %}"
)
DEEPSEEK = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}{% elif m.role == 'user' %}"
    "<｜User｜>{{ m.content }}{% else %}<｜Assistant｜>{{ m.content.split('</think>')[-1] }}{{ eos_token }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<｜Assistant｜><think>\n{% endif %}"
)
GPT_OSS = (
    "<|start|>system<|message|>{{ model_identity or 'A model.' }} {{ strftime_now('%Y-%m-%d') }}, reasoning: "
    "{{ reasoning_effort or 'medium' }}{{ builtin_tools or '' }}<|end|>{% for m in messages %}{% if m.role == 'assistant' %}"
    "<|start|>assistant<|channel|>final<|message|>{{ m.content }}{{ '<|return|>' if loop.last else '<|end|>' }}{% else %}"
    "<|start|>{{ 'developer' if m.role == 'system' else 'user' }}<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
GRANITE = (
    "{% if messages[0].role != 'system' %}<|start_of_role|>system<|end_of_role|>Today: {{ strftime_now('%B %d, %Y') }}."
    "{{ ' Think.' if thinking else '' }}{{ controls or '' }}<|end_of_text|>\n{% endif %}{% for m in messages %}"
    "<|start_of_role|>{{ m.role }}<|end_of_role|>{{ m.content }}<|end_of_text|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start_of_role|>assistant<|end_of_role|>{% endif %}"
)
COHERE = (
    "{{ bos_token }}{% for m in messages %}<|START_OF_TURN_TOKEN|><|{{ {'user': 'USER', 'system': 'SYSTEM', 'assistant': "
    "'CHATBOT'}[m.role] }}_TOKEN|>{{ m.content | trim }}<|END_OF_TURN_TOKEN|>{% endfor %}"
    "{% if add_generation_prompt %}<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{% endif %}"
)
COHERE_2 = COHERE.replace("{{ m.content | trim }}", "{% if m.role == 'assistant' %}<|START_RESPONSE|>{% endif %}"
    "{{ m.content | trim }}{% if m.role == 'assistant' %}<|END_RESPONSE|>{% endif %}")  # fmt: skip
_IM = ("<|im_start|>", "<|im_end|>")
_TURNS = ("<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>")

SMALLS = {
    "Llama 3": Small(
        "LlamaConfig", {**SMALL, "max_position_embeddings": 131072, "rope_parameters":
                        {**LLAMA3, "original_max_position_embeddings": 8192, "rope_theta": 5e5}},
        ("<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>"),
        LLAMA_3, 131072, "all 4", ("<|end_of_text|>", "<|eom_id|>"),
    ),
    "Qwen 2.5": Small(
        "Qwen2Config", {**SMALL, "max_position_embeddings": 32768, "rope_parameters":
                        {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768, "rope_theta": 1e6}},
        ("<|endoftext|>", "<|endoftext|>", *_IM), QWEN_25, 131072, "all 4",
    ),
    "Qwen 3": Small(
        "Qwen3Config", {**HEADS, "max_position_embeddings": 40960}, ("<|endoftext|>", "<|endoftext|>", *_IM), QWEN_3,
        40960, "all 4", thinks="<think>\nOslo?\n</think>\n\nRome",
    ),
    "Mistral Small": Small(
        "MistralConfig", {**HEADS, "max_position_embeddings": 131072, "sliding_window": None},
        ("<s>", "</s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[THINK]", "[/THINK]"), MISTRAL,
        131072, "all 4", thinks="[THINK]Oslo?[/THINK]Rome",
    ),
    "Gemma 2": Small(
        "Gemma2Config", {**HEADS, "max_position_embeddings": 8192, "sliding_window": 4096, "pad_token_id": 0},
        ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"), GEMMA_2, 8192, "none",
    ),
    "Gemma 3": Small(
        "Gemma3TextConfig", {**HEADS, "max_position_embeddings": 131072, "sliding_window": 1024, "pad_token_id": 0,
                             "num_hidden_layers": 6, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
        ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"), GEMMA_3, 131072, "1 of 6: 5",
    ),
    "Phi 3.5": Small(
        "Phi3Config", {**SMALL, "max_position_embeddings": 131072, "original_max_position_embeddings": 4096,
                       "rope_scaling": LONG, "sliding_window": 262144, "pad_token_id": 0},
        ("<s>", "<|endoftext|>", "<|user|>", "<|end|>", "<|assistant|>", "<|system|>"), PHI_35, 131072, "all 4",
        ("<|endoftext|>", "<|end|>"), rstrip=True,
    ),
    "Phi 4": Small(
        "Phi3Config", {**SMALL, "max_position_embeddings": 16384, "pad_token_id": 0},
        ("<|endoftext|>", "<|endoftext|>", *_IM, "<|im_sep|>"), PHI_4, 16384, "all 4",
        thinks="<think>Oslo?</think>Rome",
    ),
    "SmolLM3": Small(
        "SmolLM3Config", {**SMALL, "max_position_embeddings": 65536, "pad_token_id": 0},
        ("<|begin_of_text|>", "<|im_end|>", "<|im_start|>"), SMOLLM3, 65536, "all 4",
        thinks="<think>Oslo?</think>Rome",
    ),
    "DeepSeek-R1 distillates": Small(
        "Qwen2Config", {**SMALL, "max_position_embeddings": 131072},
        ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"), DEEPSEEK, 131072, "all 4",
        thinks="Oslo?\n</think>\n\nRome",
    ),
    "gpt-oss": Small(
        "GptOssConfig", {**HEADS, "max_position_embeddings": 131072, "sliding_window": 128, "num_local_experts": 2,
                         "num_experts_per_tok": 1, "rope_parameters": {**YARN, "rope_theta": 150000.0}},
        ("<|startoftext|>", "<|return|>", "<|endoftext|>", "<|call|>", "<|start|>", "<|end|>", "<|message|>", "<|channel|>"),
        GPT_OSS, 131072, "none", ("<|return|>", "<|endoftext|>", "<|call|>"),
        thinks="<|channel|>analysis<|message|>Oslo?<|end|><|start|>assistant<|channel|>final<|message|>Rome",
    ),
    "Granite": Small(
        "GraniteConfig", {**SMALL, "max_position_embeddings": 131072},
        ("<|end_of_text|>", "<|end_of_text|>", "<|start_of_role|>", "<|end_of_role|>"), GRANITE, 131072, "all 4",
        thinks="Here is my thought process:\nOslo?\n\nHere is my response:\nRome",
    ),
    "Command R": Small(
        "CohereConfig", {**SMALL, "max_position_embeddings": 131072}, (*_TURNS, "<|SYSTEM_TOKEN|>"), COHERE, 131072, "all 4",
    ),
    "Command R7B, Command A": Small(
        "Cohere2Config", {**HEADS, "max_position_embeddings": 132096, "sliding_window": 4096},
        (*_TURNS, "<|SYSTEM_TOKEN|>", "<|START_THINKING|>", "<|END_THINKING|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
        COHERE_2, 132096, "1 of 4: 3",
        thinks="<|START_THINKING|>Oslo?<|END_THINKING|><|START_RESPONSE|>Rome<|END_RESPONSE|>",
    ),
}  # fmt: skip


def save_small(folder: Path, small: Small) -> Path:
    """Saves the checkpoint."""
    import torch
    import transformers

    ids = {token: 256 + at for at, token in enumerate(dict.fromkeys(small.tokens))}
    first, last = small.tokens[:2]
    ends = [ids[token] for token in small.ends] or ids[last]
    fields = {"num_hidden_layers": 4, "vocab_size": 300, "bos_token_id": ids[first], "eos_token_id": ends}
    config = getattr(transformers, small.config)(**{**fields, **small.fields})
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config)
    model.generation_config.eos_token_id = ids[last]
    model.save_pretrained(folder)
    _save_tokenizer(folder, small, ids)
    return folder


def _save_tokenizer(folder: Path, small: Small, ids: Mapping[str, int]) -> None:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: at for at, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(token, special=True, normalized=False, rstrip=small.rstrip) for token in ids])
    first, last = small.tokens[:2]
    tokenizer: Any = PreTrainedTokenizerFast(tokenizer_object=made, bos_token=first, eos_token=last)
    tokenizer.chat_template = small.template
    tokenizer.save_pretrained(folder)
