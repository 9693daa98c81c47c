"""The back end of chat servers."""

from dataclasses import replace

from eval_harness.models.base import Model, ModelOptions


class ChatServer:
    """Models behind an OpenAI-compatible chat endpoint."""

    says = "a model behind an OpenAI-compatible chat endpoint"
    remote = True

    def load(self, name: str, options: ModelOptions) -> Model:
        """The model `name` of a server, its prompts counted with a named tokenizer; the server is not asked yet."""
        from eval_harness.models.chat_api import ChatOptions, load_chat_model

        server = replace(options.server or ChatOptions(), system=options.system)
        return load_chat_model(name, options.tokenizer, server)
