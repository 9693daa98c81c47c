from pathlib import Path

import pytest

from builders.device import dtype_name


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        ("flags : fpu avx512f avx512_bf16", "bfloat16"),
        ("flags : fpu amx_bf16", "bfloat16"),
        ("Features : fp asimd bf16", "bfloat16"),
        ("flags : fpu avx512f avx512_vnni", "float32"),
    ],
)
def test_auto_follows_the_hardware(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, name: str) -> None:
    (tmp_path / "cpuinfo").write_text(flags)
    monkeypatch.setattr("builders.device._CPU_FLAGS", tmp_path / "cpuinfo")
    monkeypatch.setattr("builders.device.device_name", lambda: "cpu")
    assert dtype_name("auto") == name
    assert dtype_name("float32") == "float32"


def test_auto_without_a_description_of_the_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.device._CPU_FLAGS", tmp_path / "missing")
    monkeypatch.setattr("builders.device.device_name", lambda: "cpu")
    assert dtype_name("auto") == "float32"
