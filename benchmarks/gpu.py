"""Measurements of a CUDA machine with only Python and torch: one file, imports nothing of ours.

`python benchmarks/gpu.py OUT.json` takes under four minutes on a current data-centre GPU; `--tiny` runs small shapes
on any device. `python benchmarks/gpu.py rap --help` and `train --help` describe runs of models, which also need the
package.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

SECONDS = 8.0  # longest measurement of a number, after warm-up


class Shape(NamedTuple):
    """A transformer; `vocabulary` 0 means an encoder: bidirectional, without an output head."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    inner: int
    vocabulary: int


LLAMA_135M = Shape(30, 576, 9, 3, 1536, 49152)  # SmolLM2-135M
MINILM = Shape(6, 384, 12, 12, 1536, 0)  # all-MiniLM-L6-v2
TINY = Shape(2, 64, 4, 2, 128, 256)
TINY_ENCODER = Shape(2, 64, 4, 4, 128, 0)
TOKENS = 30522  # input ids of an encoder


def weights(shape: Shape, device: str, dtype: Any) -> list[dict[str, Any]]:
    """Random weights, equal on every device: a list of layers, and last the embedding."""
    import torch

    generator = torch.Generator().manual_seed(0)

    def matrix(rows: int, columns: int) -> Any:
        return (torch.randn(rows, columns, generator=generator) / columns**0.5).to(device, dtype)

    kv = shape.hidden // shape.heads * shape.kv_heads
    hidden, inner = shape.hidden, shape.inner
    sizes = {"q": (hidden, hidden), "k": (kv, hidden), "v": (kv, hidden), "o": (hidden, hidden)}
    sizes |= {"up": (inner, hidden), "down": (hidden, inner)}
    if shape.vocabulary:
        sizes["gate"] = (inner, hidden)
    layers = [{name: matrix(*size) for name, size in sizes.items()} for _ in range(shape.layers)]
    return [*layers, {"embedding": matrix(shape.vocabulary or TOKENS, hidden)}]


def forward(shape: Shape, layers: list[dict[str, Any]], tokens: Any) -> Any:
    """Logits of the last position (batch, vocabulary); for an encoder, the mean of all positions (batch, hidden)."""
    import torch.nn.functional as F

    x = F.embedding(tokens, layers[-1]["embedding"])
    angles = rotary(x.shape[1], shape.hidden // shape.heads, x)
    for layer in layers[:-1]:
        x = x + attention(shape, layer, F.rms_norm(x, x.shape[-1:]), angles)
        normal = F.rms_norm(x, x.shape[-1:])
        inner = normal @ layer["up"].T
        inner = F.silu(normal @ layer["gate"].T) * inner if "gate" in layer else F.gelu(inner)
        x = x + inner @ layer["down"].T
    x = F.rms_norm(x, x.shape[-1:])
    return x[:, -1] @ layers[-1]["embedding"].T if shape.vocabulary else x.mean(1)


def attention(shape: Shape, layer: dict[str, Any], x: Any, angles: tuple[Any, Any]) -> Any:
    """Grouped attention: query head h reads key head h // (heads / kv_heads)."""
    import torch.nn.functional as F

    batch, length, hidden = x.shape

    def heads(name: str, n: int) -> Any:
        return (x @ layer[name].T).view(batch, length, n, -1).transpose(1, 2)

    q, k, v = heads("q", shape.heads), heads("k", shape.kv_heads), heads("v", shape.kv_heads)
    k, v = (part.repeat_interleave(shape.heads // shape.kv_heads, dim=1) for part in (turned(k, angles), v))
    mixed = F.scaled_dot_product_attention(turned(q, angles), k, v, is_causal=bool(shape.vocabulary))
    return mixed.transpose(1, 2).reshape(batch, length, hidden) @ layer["o"].T


def rotary(length: int, size: int, like: Any) -> tuple[Any, Any]:
    """Cosines and sines of rotary positions with base 10,000 (Su et al., 2021), each (length, size / 2)."""
    import torch

    steps = 10_000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * steps
    return angles.cos().to(like), angles.sin().to(like)


def turned(x: Any, angles: tuple[Any, Any]) -> Any:
    """Heads (batch, heads, length, size) turned by their positions."""
    import torch

    cosine, sine = angles
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cosine - b * sine, b * cosine + a * sine), dim=-1)


def logits_difference(device: str) -> float:
    """The largest difference of logits between the CPU and a device, both in float32."""
    import torch

    tokens = torch.randint(TINY.vocabulary, (2, 48), generator=torch.Generator().manual_seed(1))
    there = forward(TINY, weights(TINY, device, torch.float32), tokens.to(device)).cpu()
    return float((forward(TINY, weights(TINY, "cpu", torch.float32), tokens) - there).abs().max())


def rate(work: Callable[[], Any], units: int, device: str) -> float:
    """Units per second, the best of up to five runs after a warm-up."""
    import torch

    best, spent = float("inf"), 0.0
    for turn in range(6):
        start = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        spent += seconds
        best = min(best, seconds) if turn else best
        if turn and spent > SECONDS:
            break
    return units / best


def measure(tiny: bool) -> dict[str, Any]:
    """All measurements; SystemExit in one line if torch or CUDA is missing, or torch is too old."""
    try:
        import torch
    except ImportError:
        raise SystemExit("torch is missing; run: pip install torch") from None
    if not hasattr(torch.nn.functional, "rms_norm"):
        raise SystemExit(f"torch is {torch.__version__}, but 2.4 or newer is needed; run: pip install --upgrade torch")
    if not tiny and not torch.cuda.is_available():
        raise SystemExit("torch sees no CUDA device; run with --tiny to try the script without one")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = False  # otherwise float32 products use TF32
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    decoder, encoder = (TINY, TINY_ENCODER) if tiny else (LLAMA_135M, MINILM)
    lengths, batch, words = ((64, 128), 4, 16) if tiny else ((2048, 8192, 32768), 256, 128)
    with torch.inference_mode():
        difference = logits_difference(device)
        model = weights(decoder, device, torch.bfloat16)
        prompts = [torch.randint(decoder.vocabulary, (1, n), device=device) for n in lengths]
        prefill = {
            n: rate(partial(forward, decoder, model, p), n, device) for n, p in zip(lengths, prompts, strict=True)
        }
        reader = weights(encoder, device, torch.bfloat16)
        passages = torch.randint(TOKENS, (batch, words), device=device)
        encoded = rate(partial(forward, encoder, reader, passages), batch, device)
    return {
        "device": name,
        "torch": torch.__version__,
        "largest_logits_difference": difference,
        "prefill_tokens_per_second": prefill,
        "encoder_passages_per_second": encoded,
    }


def main() -> None:
    """Writes the measurements to a file and prints them; with `rap` or `train` first, runs that instead."""
    if sys.argv[1:2] == ["rap"]:
        from gpu_rap import main as rap  # in this folder

        rap(sys.argv[2:])
        return
    if sys.argv[1:2] == ["train"]:
        from gpu_train import main as train

        train(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="JSON file for the results")
    parser.add_argument("--tiny", action="store_true", help="small shapes, also on a CPU")
    arguments = parser.parse_args()
    text = json.dumps(measure(arguments.tiny), indent=2)
    arguments.out.write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
