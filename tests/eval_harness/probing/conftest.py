"""A model with one head that retrieves, and instances that it can be probed on."""

from pathlib import Path

import pytest

from tests.eval_harness.conftest import write_config
from tests.eval_harness.probing.retriever import rows, save_retriever
from tests.manifests import write_manifest_2


@pytest.fixture(scope="session")
def retriever(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_retriever(tmp_path_factory.mktemp("models") / "retriever")


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "icr2"
    write_config(folder, "1k_p0", rows(12, "validation"), "validation-00000-of-00001.parquet")
    write_config(folder, "1k_p0", rows(10, "test"))
    write_manifest_2(folder, "keys")
    return folder
