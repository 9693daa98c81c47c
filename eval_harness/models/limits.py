"""How many tokens a model takes: its positions, what its rotary embedding makes of them, and its tokenizer's limit."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from builders.errors import SetupError

UNKNOWN = 1 << 62  # of a model that does not say
_UNSET = 1 << 40  # a tokenizer without a limit says about 1e30
_MULTIPLYING = {"linear", "dynamic"}
_ALREADY_SCALED = ("gemma3",)  # whose max_position_embeddings counts the linear scaling of its full layers


class Limit(NamedTuple):
    """The most tokens of prompt and output together, and what says so."""

    tokens: int
    source: str


def limit_of(config: Any, tokenizer: Any) -> Limit:
    """The limit of a model with a configuration and a tokenizer.

    The scaling of rotary positions counts as transformers applies it: `linear` and `dynamic` multiply the positions,
    `yarn` multiplies those before scaling, where that is more, and `llama3` and `longrope` are in the number already.
    A tokenizer's smaller limit counts unless it only repeats the number before scaling.
    """
    text = config.get_text_config()
    positions = _positions(text)
    found = _scaled(text, positions) if positions else Limit(UNKNOWN, "config.json says no limit")
    most = int(getattr(tokenizer, "model_max_length", None) or UNKNOWN)
    stale = positions is not None and found.tokens > positions and most in {positions, *_originals(text)}
    return Limit(most, "model_max_length of the tokenizer") if most < min(found.tokens, _UNSET) and not stale else found


def chosen(limit: Limit, asked: int | None, config: Any) -> Limit:
    """The limit that a user asks for, else the model's; SetupError if it exceeds a table of absolute positions."""
    if asked is None:
        return limit
    positions = _positions(config.get_text_config())
    if positions and asked > positions and not _ropes(config.get_text_config()):
        raise SetupError(f"--max-positions {asked}: the model has a table of {positions} positions; use at most that")
    return Limit(asked, "--max-positions")


def _positions(text: Any) -> int | None:
    names = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_sequence_length")
    return next((value for name in names if isinstance(value := getattr(text, name, None), int) and value > 0), None)


def _scaled(text: Any, positions: int) -> Limit:
    """The positions with the scaling that gives most; layers of one kind may have a scaling of their own."""
    plain = Limit(positions, "max_position_embeddings")
    if str(text.model_type).startswith(_ALREADY_SCALED):
        return plain
    return max([plain, *(_by(rope, positions) for rope in _ropes(text))], key=lambda limit: limit.tokens)


def _by(rope: Mapping[str, Any], positions: int) -> Limit:
    kind = str(rope.get("rope_type") or rope.get("type") or "default")
    factor = float(rope.get("factor") or 1)
    original = rope.get("original_max_position_embeddings")
    if kind in _MULTIPLYING:
        return Limit(int(positions * factor), f"max_position_embeddings x {factor:g} ({kind} RoPE scaling)")
    if kind == "yarn":
        base = int(original or positions)
        what = "original_max_position_embeddings" if original else "max_position_embeddings"
        return Limit(int(base * factor), f"{what} x {factor:g} (yarn RoPE scaling)")
    if kind in ("longrope", "su") and not original:
        return Limit(int(positions * factor), f"max_position_embeddings x {factor:g} ({kind} RoPE scaling)")
    return Limit(positions, "max_position_embeddings")


def _ropes(text: Any) -> list[Mapping[str, Any]]:
    """The settings of rotary positions, of all kinds of layers."""
    rope = getattr(text, "rope_parameters", None) or getattr(text, "rope_scaling", None) or {}
    nested = [part for part in rope.values() if isinstance(part, Mapping)]
    return nested or ([rope] if rope else [])


def _originals(text: Any) -> set[int]:
    return {int(rope["original_max_position_embeddings"]) for rope in _ropes(text) if _has_original(rope)}


def _has_original(rope: Mapping[str, Any]) -> bool:
    return bool(rope.get("original_max_position_embeddings"))
