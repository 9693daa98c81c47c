"""Reads YAML that people write: each key once, aliases that stay small, dates as text."""

from collections.abc import Iterator
from typing import Any

import yaml

from builders.errors import SetupError, shortened, shown

MOST_VALUES = 20_000  # of a file with its aliases written out


class _Loader(yaml.SafeLoader):
    """YAML in which nothing is a date: `2024-01-02` is text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if not tag.endswith(":timestamp")]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def parsed_yaml(text: str, where: str) -> Any:
    """The value of a YAML text; SetupError with `where` and its line for what is not YAML, or is refused here.

    Refused: a key twice in one mapping, a bare `None` (YAML's word is null), half a surrogate pair, and aliases that
    contain themselves or more than MOST_VALUES values.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node, {}, set())
        for part in _each(node, set()):
            _check(part)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise SetupError(f"{where} is not YAML: {line}{shortened(str(error.problem or error.context))}") from None
    except RecursionError:
        raise SetupError(f"{where} is not YAML: it is nested too deeply") from None
    except (yaml.YAMLError, ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise SetupError(f"{where} is not YAML: {shortened(' '.join(str(error).split()))}") from None


def _check_size(node: yaml.Node, sizes: dict[int, int], open_: set[int]) -> int:
    """How many values a node has with its aliases written out; ValueError where these are too many."""
    if id(node) in open_:
        raise ValueError(f"line {node.start_mark.line + 1}: an alias contains itself")
    if id(node) not in sizes:
        open_.add(id(node))
        sizes[id(node)] = size = 1 + sum(_check_size(child, sizes, open_) for child in _children(node))
        open_.remove(id(node))
        if size > MOST_VALUES:
            raise ValueError(
                f"line {node.start_mark.line + 1}: more than {MOST_VALUES} values, with aliases written out"
            )
    return sizes[id(node)]


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _each(node: yaml.Node, seen: set[int]) -> Iterator[yaml.Node]:
    if id(node) not in seen:
        seen.add(id(node))
        yield node
        for child in _children(node):
            yield from _each(child, seen)


def _check(node: yaml.Node) -> None:
    line = f"line {node.start_mark.line + 1}"
    if isinstance(node, yaml.ScalarNode):
        if any("\ud800" <= character <= "\udfff" for character in node.value):
            raise ValueError(f"{line}: {shown(node.value)} has half a surrogate pair, which is no character")
        if node.value == "None" and node.style is None:
            raise ValueError(f"{line}: None is text in YAML; write null for nothing, or 'None' in quotes for the word")
    if isinstance(node, yaml.MappingNode):
        keys = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in keys and key.tag != "tag:yaml.org,2002:merge":
                    raise ValueError(f"line {key.start_mark.line + 1}: key {shown(key.value)} twice in one mapping")
                keys.add((key.tag, key.value))
