"""The back end of chat servers."""

from dataclasses import replace

from eval_harness.models.back_end import ModelOptions
from eval_harness.models.base import Model


class ChatServer:
    """Models behind an OpenAI-compatible chat endpoint."""

    says = "a model behind an OpenAI-compatible chat endpoint"
    remote = True
    takes = frozenset(
        "system thinking_marks max_positions base_url tokenizer concurrency timeout limit_field request_field".split()
    )

    def load(self, name: str, options: ModelOptions) -> Model:
        """The model `name` of a server, its prompts counted with a named tokenizer; the server is not asked yet."""
        from eval_harness.models.chat_api import load_chat_model

        server = replace(
            options.server, system=options.system, max_positions=options.max_positions, marks=options.marks
        )
        return load_chat_model(name, options.tokenizer, server)
