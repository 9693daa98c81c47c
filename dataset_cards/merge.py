"""What a repository already holds beside a release: its configs, kept in the new card and checked against ours."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import yaml

from builders.errors import SetupError
from dataset_cards.front_matter import head_of, with_fields

DATA = (".parquet", ".arrow", ".csv", ".tsv", ".jsonl")


class Kept(NamedTuple):
    """The configs of a repository that a release does not have."""

    configs: list[dict[str, Any]]
    infos: list[dict[str, Any]]
    files: dict[str, list[str]]  # config -> paths in the repository

    @property
    def names(self) -> list[str]:
        """Their names."""
        return list(self.files)


def kept_configs(card: str, ours: Iterable[str], paths: Iterable[str], repo: str) -> Kept:
    """The configs that a repository's card lists and `ours` are not, with those of its `paths` that they are made of.

    SetupError where the card cannot be read, or where a config of it would be lost or could not load.
    """
    ours, paths = set(ours), sorted(paths)
    where = f"README.md of {repo}"
    try:
        head = head_of(card)
    except yaml.YAMLError as error:
        raise SetupError(f"{where}: its YAML does not parse ({' '.join(str(error).split())}); mend it there") from None
    listed = head.get("configs") or []
    if not listed:
        _refuse_unlisted(paths, ours, where)
    configs = [config for config in listed if config.get("config_name") not in ours]
    files = {str(config.get("config_name")): _files(config, paths, where) for config in configs}
    if len(files) != len(configs):
        raise SetupError(f"{where} lists a config twice, and only the last loads; mend it there")
    infos = head.get("dataset_info") or []
    infos = [infos] if isinstance(infos, dict) else infos
    return Kept(configs, [info for info in infos if info.get("config_name", "default") in files], files)


def _refuse_unlisted(paths: list[str], ours: set[str], where: str) -> None:
    """Once a card has `configs`, data files that it does not list no longer load."""
    for path in paths:
        if path.endswith(DATA) and path.split("/")[0] not in ours:
            raise SetupError(f"{where} lists no configs, so {path} would no longer load; list it there first")


def _files(config: dict[str, Any], paths: list[str], where: str) -> list[str]:
    """The repository's files of one config: explicit paths and patterns, of all its splits."""
    name, entries = config.get("config_name"), config.get("data_files")
    if not entries:
        raise SetupError(f"{where}: config {name} lists no data_files; list them there")
    entries = [entries] if isinstance(entries, str | dict) else entries
    patterns: list[str] = []
    for entry in entries:
        path = entry["path"] if isinstance(entry, dict) else entry
        patterns += [path] if isinstance(path, str) else path
    found = []
    for pattern in patterns:
        matching = [path for path in paths if path == pattern or fnmatchcase(path, pattern)]
        if not matching:
            raise SetupError(f"{where}: config {name} lists {pattern}, which is not there; mend it there")
        found += matching
    return sorted(set(found))


def merged_card(card: str, kept: Kept) -> str:
    """Our card with the kept configs after ours; our card as it is where there are none."""
    if not kept.configs:
        return card
    head = head_of(card)
    configs = [dict(config) for config in head["configs"]]
    others = [dict(config) for config in kept.configs]
    # datasets refuses two defaults, and takes a config of that name for one
    for config in configs if "default" in kept.names else others:
        config.pop("default", None)
    infos = head.get("dataset_info") or []
    infos = [infos] if isinstance(infos, dict) else list(infos)
    described = {"dataset_info": infos + kept.infos} if infos or kept.infos else {}
    return with_fields(card, {"configs": configs + others, **described})
