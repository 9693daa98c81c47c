"""The device and dtype of a model."""

import re
from pathlib import Path
from typing import Literal

DType = Literal["auto", "float32", "bfloat16", "float16"]

_CPU_FLAGS = Path("/proc/cpuinfo")


def device_name() -> Literal["cuda", "cpu"]:
    """`cuda` where there is one, else `cpu`."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def fast_bfloat16() -> bool:
    """Whether the hardware supports bfloat16: a GPU that reports it, or a CPU with AVX512-BF16, AMX or Arm's bf16."""
    if device_name() == "cuda":
        import torch

        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return _CPU_FLAGS.is_file() and bool(re.search(r"\b(avx512_bf16|amx_bf16|bf16)\b", _CPU_FLAGS.read_text()))


def dtype_name(wanted: DType) -> str:
    """The dtype that `auto` resolves to on this machine; any other is returned as it is."""
    if wanted == "auto":
        return "bfloat16" if fast_bfloat16() else "float32"
    return wanted
