"""The back end of chat servers."""

from dataclasses import replace

from eval_harness.models.back_end import ModelOptions
from eval_harness.models.base import Model


class ChatServer:
    """Models behind an OpenAI-compatible chat endpoint."""

    says = "a model behind an OpenAI-compatible chat endpoint"
    remote = True

    def load(self, name: str, options: ModelOptions) -> Model:
        """The model `name` of a server, its prompts counted with a named tokenizer; the server is not asked yet."""
        from eval_harness.models.chat_api import load_chat_model

        return load_chat_model(name, options.tokenizer, replace(options.server, system=options.system))
