"""Commands on an app of their own."""

import pytest
import typer

from eval_harness.commands.evaluate import register


@pytest.fixture
def app() -> typer.Typer:
    """`icr2 eval`, with the commands that are registered with it."""
    app = typer.Typer()
    register(app)
    return app
