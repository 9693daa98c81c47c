"""The graph of our own imports, read from the source: which file imports which, and circles in it."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("builders", "validation", "dataset_cards", "eval_harness")
Graph = Mapping[str, set[str]]


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Our modules by their dotted names; a package is its `__init__.py`."""
    found = {path.stem: path for path in root.glob("*.py")}
    for path in sorted(path for package in PACKAGES for path in (root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path) -> set[str]:
    """Every module that a file imports, also inside functions; `from a import b` gives `a.b`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def graph(files: Mapping[str, Path]) -> dict[str, set[str]]:
    """Each of our modules with those of ours that it imports."""
    return {name: _ours(imported(path), files) - {name} for name, path in files.items()}


def _ours(names: Iterable[str], files: Mapping[str, Path]) -> set[str]:
    whole = {name if name in files else name.rpartition(".")[0] for name in names}
    return whole & set(files)


def loaded(start: Iterable[str], links: Graph) -> set[str]:
    """All modules that loading those of `start` can load, through any number of files, with their packages."""
    seen: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            package = name.rpartition(".")[0]
            waiting += [*links.get(name, ()), *([package] if package in links else [])]
    return seen


def within(folder: str, links: Graph) -> dict[str, set[str]]:
    """The imports inside a folder, where a file of its own is a node, and a subfolder with all below it is one, too."""
    found: dict[str, set[str]] = {}
    for name, others in links.items():
        node = _node(name, folder)
        if node is not None:
            inside = {_node(other, folder) for other in others}
            found.setdefault(node, set()).update(other for other in inside if other not in (None, node))
    return found


def _node(name: str, folder: str) -> str | None:
    prefix = f"{folder}." if folder else ""
    if name == folder:
        return f"{name}.__init__"
    if not name.startswith(prefix):
        return None
    return prefix + name.removeprefix(prefix).partition(".")[0]


def circles(links: Graph) -> list[list[str]]:
    """Groups of nodes that reach each other, each sorted, found by Tarjan's algorithm."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in links.get(node, ()):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            at = stack.index(node)
            group = sorted(stack[at:])
            del stack[at:]
            if len(group) > 1:
                found.append(group)

    for node in links:
        if node not in number:
            visit(node)
    return sorted(found)
