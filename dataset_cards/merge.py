"""A repository's configs that are not in a release: kept in the new card, and checked against ours."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from builders.errors import SetupError
from dataset_cards.front_matter import entries, head_of, with_fields

DATA = (".parquet", ".arrow", ".csv", ".tsv", ".jsonl")


class Kept(NamedTuple):
    """The configs of a repository that are not in a release."""

    configs: list[dict[str, Any]]
    infos: list[dict[str, Any]]
    files: dict[str, list[str]]  # config -> paths in the repository

    @property
    def names(self) -> list[str]:
        """Their names."""
        return list(self.files)


def kept_configs(card: str, ours: Iterable[str], paths: Iterable[str], repo: str) -> Kept:
    """The configs in a repository's card that are not in `ours`, with their files among its `paths`.

    SetupError where the card cannot be read, or where one of its configs would be lost or could not load.
    """
    ours, paths = set(ours), sorted(paths)
    where = f"README.md of {repo}"
    head = head_of(card, where, "fix it there")
    listed = head.get("configs") or []
    if not listed:
        _refuse_unlisted(paths, ours, where)
    configs = [config for config in listed if config.get("config_name") not in ours]
    files = {str(config.get("config_name")): _files(config, paths, where) for config in configs}
    if len(files) != len(configs):
        raise SetupError(f"{where} lists a config twice, and only the last loads; fix it there")
    infos = entries(head.get("dataset_info"))
    return Kept(configs, [info for info in infos if info.get("config_name", "default") in files], files)


def _refuse_unlisted(paths: list[str], ours: set[str], where: str) -> None:
    """SetupError for unlisted data files, which no longer load once a card has `configs`."""
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
            raise SetupError(f"{where}: config {name} lists {pattern}, which does not exist; fix it there")
        found += matching
    return sorted(set(found))


def merged_card(card: str, kept: Kept) -> str:
    """Our card with the kept configs after ours; our card unchanged without any."""
    if not kept.configs:
        return card
    head = head_of(card)
    configs = [dict(config) for config in head["configs"]]
    others = [dict(config) for config in kept.configs]
    # datasets refuses two defaults, and treats a config of that name as one
    for config in configs if "default" in kept.names else others:
        config.pop("default", None)
    infos = entries(head.get("dataset_info"))
    described = {"dataset_info": infos + kept.infos} if infos or kept.infos else {}
    return with_fields(card, {"configs": configs + others, **described})
