"""A dataset without a fault, and tables of texts as the checks see them."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from tests.planted.good import build_good
from validation.dataset import read_dataset
from validation.measures import Measures
from validation.normal import normal_sql, words_sql


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset without a fault; not to be changed."""
    return build_good(tmp_path_factory.mktemp("good"))


@pytest.fixture
def texts(good: Path) -> Iterator[Callable[[Sequence[str]], Measures]]:
    """Measures whose table `texts` contains the given texts, numbered from 0."""
    connection = duckdb.connect()

    def make(given: Sequence[str]) -> Measures:
        measures = Measures(read_dataset(good), connection)
        measures.keep("given_texts", pa.table({"text": range(len(given)), "body": list(given)}))
        connection.execute(f"""CREATE OR REPLACE TABLE texts AS SELECT text, {normal_sql("words")} AS normal
            FROM (SELECT text::INTEGER AS text, {words_sql("body")} AS words FROM given_texts)""")
        return measures

    yield make
    connection.close()
