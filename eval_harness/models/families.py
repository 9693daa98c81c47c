"""Model families that people run: what their templates, limits and attention need. docs/models.md shows it as a table.

From their model cards and configurations; the files themselves were not at hand. `icr2 models check` says what a real
checkpoint has.
"""

from typing import Literal, NamedTuple

System = Literal["turn", "in the user's turn", "refused"]
Probed = Literal["all layers", "full-attention layers", "not possible"]


class Family(NamedTuple):
    """One family; `opens` says that the template begins thoughts for the model, `dated` that it writes the day.

    `limits`: tokens by model. `window`: which layers see only the last tokens, "" where none does.
    """

    name: str
    types: tuple[str, ...]
    template: str
    system: System
    switches: tuple[str, ...]
    thoughts: str
    stops: tuple[str, ...]
    limits: str
    window: str
    probed: Probed
    opens: bool = False
    dated: bool = False


FAMILIES = (
    Family(
        "Llama 3", ("llama",), "`<|start_header_id|>`", "turn", ("tools_in_user_message",), "none",
        ("<|eot_id|>", "<|end_of_text|>", "<|eom_id|>"), "8,192; from 3.1 131,072 (llama3 scaling included)", "",
        "all layers", dated=True,
    ),
    Family(
        "Qwen 2.5", ("qwen2",), "ChatML; a system text of its own where none is given", "turn", (), "none",
        ("<|im_end|>", "<|endoftext|>"), "32,768; with yarn in config.json 131,072", "", "all layers",
    ),
    Family(
        "Qwen 3", ("qwen3",), "ChatML", "turn", ("enable_thinking",), "`<think>`", ("<|im_end|>", "<|endoftext|>"),
        "40,960; with yarn in config.json 131,072", "", "all layers",
    ),
    Family(
        "Mistral Small", ("mistral", "mistral3"), "`[INST]`", "turn", (), "`[THINK]` (Magistral)", ("</s>",),
        "32,768; from 3.1 131,072", "", "all layers", dated=True,
    ),
    Family(
        "Gemma 2", ("gemma2",), "`<start_of_turn>`", "refused", (), "none", ("<end_of_turn>", "<eos>"), "8,192",
        "4,096 in every other layer", "not possible",
    ),
    Family(
        "Gemma 3", ("gemma3", "gemma3_text"), "`<start_of_turn>`", "in the user's turn", (), "none",
        ("<end_of_turn>", "<eos>"), "131,072 (linear scaling included); 1B 32,768", "512 or 1,024 in 5 of 6 layers",
        "full-attention layers",
    ),
    Family(
        "Phi 3.5", ("phi3",), "`<|user|>`, tokens that take the white space after them", "turn", (), "none",
        ("<|end|>", "<|endoftext|>"), "131,072 (longrope included)", "262,144, more than its limit", "all layers",
    ),
    Family(
        "Phi 4", ("phi3",), "`<|im_start|>` and `<|im_sep|>`", "turn", (), "`<think>` (reasoning models)",
        ("<|im_end|>", "<|endoftext|>"), "16,384; mini 131,072", "", "all layers",
    ),
    Family(
        "SmolLM3", ("smollm3",), "ChatML; `/no_think` in the system text", "turn",
        ("custom_instructions", "enable_thinking", "python_tools", "xml_tools"), "`<think>`", ("<|im_end|>",),
        "65,536; with yarn in config.json 131,072", "", "all layers", dated=True,
    ),
    Family(
        "DeepSeek-R1 distillates", ("qwen2", "llama"), "`<｜User｜>`, begins `<think>`", "turn", (), "`<think>`",
        ("<｜end▁of▁sentence｜>",), "131,072", "", "all layers", opens=True,
    ),
    Family(
        "gpt-oss", ("gpt_oss",), "harmony channels", "turn", ("builtin_tools", "model_identity", "reasoning_effort"),
        "`<|channel|>analysis`", ("<|return|>", "<|endoftext|>", "<|call|>"), "131,072 (yarn included)",
        "128 in every other layer", "not possible", dated=True,
    ),
    Family(
        "Granite", ("granite", "granitemoehybrid"), "`<|start_of_role|>`", "turn", ("controls", "thinking"),
        "two sentences (3.2), `<think>` (3.3)", ("<|end_of_text|>",), "131,072", "", "all layers", dated=True,
    ),
    Family(
        "Command R", ("cohere",), "`<|START_OF_TURN_TOKEN|>`", "turn", (), "none", ("<|END_OF_TURN_TOKEN|>",),
        "131,072; v01 8,192 in its config.json", "", "all layers",
    ),
    Family(
        "Command R7B, Command A", ("cohere2",), "`<|START_OF_TURN_TOKEN|>`", "turn", (),
        "`<|START_THINKING|>` (reasoning models)", ("<|END_OF_TURN_TOKEN|>",), "132,096 and 262,144",
        "4,096 in 3 of 4 layers", "full-attention layers",
    ),
)  # fmt: skip


def table() -> str:
    """The families as a Markdown table."""
    head = "family, config type, template, system text, switches, thoughts, ends at, limit (tokens), window, RAP probes"
    lines = [_line(head.split(", ")), _line(["---"] * 10)]
    return "\n".join([*lines, *(_line(_cells(family)) for family in FAMILIES)]) + "\n"


def _cells(family: Family) -> list[str]:
    switches = [*map(_code, family.switches), *(["the day (fixed)"] if family.dated else [])]
    return [
        family.name,
        ", ".join(map(_code, family.types)),
        family.template,
        family.system,
        ", ".join(switches) or "none",
        family.thoughts,
        ", ".join(map(_code, family.stops)),
        family.limits,
        family.window or "none",
        family.probed,
    ]


def _code(text: str) -> str:
    return f"`{text}`"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') if '`' not in cell else _escaped(cell) for cell in cells)} |"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
