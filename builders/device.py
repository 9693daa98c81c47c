"""Which device and number type a model runs with."""

from pathlib import Path
from typing import Literal

DType = Literal["auto", "float32", "bfloat16"]


def device_name() -> str:
    """`cuda` where there is one, else `cpu`."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def fast_bfloat16() -> bool:
    """Whether the hardware computes bfloat16: CUDA from compute capability 8, or a CPU with AVX512-BF16 or AMX."""
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_capability()[0] >= 8
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def dtype_name(wanted: DType) -> Literal["float32", "bfloat16"]:
    """The number type that `auto` stands for on this machine; the others stand for themselves."""
    if wanted == "auto":
        return "bfloat16" if fast_bfloat16() else "float32"
    return wanted
