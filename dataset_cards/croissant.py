"""A dataset in Croissant 1.1 (MLCommons' vocabulary), as mlcroissant reads it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from builders.card import licences_of
from builders.manifest import File, Manifest
from dataset_cards import facts
from dataset_cards.columns import COLUMNS, MEMBERS
from dataset_cards.licences import licence_url
from dataset_cards.order import in_order

if TYPE_CHECKING:
    import pyarrow as pa
    from mlcroissant import Field, FileObject, FileSet, RecordSet, Source

PARQUET = "application/x-parquet"

Record = dict[str, Any]


def croissant(
    manifest: Manifest, statistics: Mapping[str, Any], schema: "pa.Schema", published: str | None = None
) -> Record:
    """The JSON-LD of a dataset: a file object with sha256 for each Parquet file, a record set for each config.

    `published` (YYYY-MM-DD) becomes `datePublished`; without it mlcroissant warns.
    """
    import mlcroissant as mlc

    licences = sorted({licence for licence in licences_of(manifest) if licence})
    configs = in_order(manifest.configs)
    files = [file for config in configs for file in _files(manifest.configs[config].files)]
    metadata = mlc.Metadata(
        name=manifest.name,
        description=facts.description(manifest, statistics),
        version=manifest.version,
        license=[licence_url(licence) for licence in licences] or ["unknown"],
        cite_as=facts.CITATION,
        date_published=published,
        in_language=[manifest.language],
        keywords=["long context", "retrieval", "reasoning", "in-context retrieval"],
        distribution=[*files, *(_file_set(config, manifest.configs[config].files) for config in configs)],
        record_sets=[_record_set(config, list(manifest.configs[config].files), schema) for config in configs],
        ctx=mlc.Context(conforms_to="http://mlcommons.org/croissant/1.1"),
    )
    described: Record = metadata.to_json()
    return described


def _files(splits: Mapping[str, list[File]]) -> list["FileObject"]:
    import mlcroissant as mlc

    return [
        mlc.FileObject(
            id=file.path,
            name=file.path,
            content_url=file.path,
            content_size=f"{file.bytes} B",
            encoding_formats=[PARQUET],
            sha256=file.sha256,
        )
        for files in splits.values()
        for file in files
    ]


def _file_set(config: str, splits: Mapping[str, list[File]]) -> "FileSet":
    """All files of a config, by path: a record set reads from one source."""
    import mlcroissant as mlc

    paths = [file.path for files in splits.values() for file in files]
    return mlc.FileSet(id=f"{config}-files", name=f"{config}-files", encoding_formats=[PARQUET], includes=paths)


def _record_set(config: str, splits: list[str], schema: "pa.Schema") -> "RecordSet":
    import mlcroissant as mlc

    path = mlc.Source(
        file_set=f"{config}-files",
        extract=mlc.Extract(file_property="fullpath"),
        transforms=[mlc.Transform(regex=rf"^{config}/({'|'.join(splits)})-.+\.parquet$")],  # mlcroissant filters by it
    )
    split = mlc.Field(
        id=f"{config}/split",
        name="split",
        description="The split of a row.",
        data_types=[mlc.DataType.TEXT],
        source=path,
    )
    return mlc.RecordSet(
        id=config,
        name=config,
        description=f"The rows of {config}: a query, its answers and its context.",
        key=[f"{config}/id"],
        fields=[split, *(_field(config, field) for field in schema)],
    )


def _field(config: str, field: "pa.Field") -> "Field":
    """A column; a list is an array, and a list of structs has a sub-field for each member."""
    import mlcroissant as mlc
    import pyarrow as pa

    inner = field.type.value_type if pa.types.is_list(field.type) else field.type
    name = f"{config}/{field.name}"
    about: Record = {"id": name, "name": field.name, "description": COLUMNS.get(field.name, "")}
    if pa.types.is_list(field.type):
        about |= {"is_array": True, "array_shape": "-1"}
    if pa.types.is_struct(inner):
        return mlc.Field(**about, sub_fields=[_member(config, field.name, member) for member in inner])
    return mlc.Field(**about, data_types=[_data_type(inner)], source=_column(config, field.name))


def _member(config: str, column: str, member: "pa.Field") -> "Field":
    import mlcroissant as mlc
    import pyarrow as pa

    listed = pa.types.is_list(member.type)
    return mlc.Field(
        id=f"{config}/{column}/{member.name}",
        name=member.name,
        description=MEMBERS.get(member.name, ""),
        data_types=[_data_type(member.type.value_type if listed else member.type)],
        source=_column(config, column, member.name),
        **({"is_array": True, "array_shape": "-1"} if listed else {}),
    )


def _column(config: str, column: str, member: str | None = None) -> "Source":
    import mlcroissant as mlc

    return mlc.Source(
        file_set=f"{config}-files",
        extract=mlc.Extract(column=column),
        transforms=[mlc.Transform(json_path=member)] if member else [],
    )


def _data_type(type_: "pa.DataType") -> str:
    import mlcroissant as mlc
    import pyarrow as pa

    if pa.types.is_integer(type_):
        return str(mlc.DataType.INTEGER)
    return str(mlc.DataType.FLOAT if pa.types.is_floating(type_) else mlc.DataType.TEXT)
