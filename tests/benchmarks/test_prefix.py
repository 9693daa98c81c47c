from pathlib import Path

from benchmarks.prefix import compared, one_context
from eval_harness.models.hf import HfModel
from tests.eval_harness.conftest import instance, save_model, write_config
from tests.manifests import write_manifest_2


def test_shared_tokens_are_computed_once_and_outputs_agree(tmp_path: Path) -> None:
    """Prompts differ in the last letters of the query alone: the first is read whole, three from where they part."""
    texts = ["Lima is the capital of Peru.", "Snow melts in spring."]
    rows = [
        instance(f"nq-{n}", "nq", f"what is it {n}", ["x"], [0], texts) | {"context_id": context}
        for n, context in enumerate("abbbbb")
    ]
    write_config(tmp_path / "data", "loft_4k", rows)
    write_manifest_2(tmp_path / "data", "tiny")
    dataset = one_context(tmp_path / "data", tmp_path / "one", 4)
    model = HfModel(save_model(tmp_path / "model"), "tiny", "r", "float32")
    tokens, time = compared(dataset, model, tmp_path)
    assert tokens.agrees
    whole = tokens.peer / 4
    rest = len("1\nAnswer:") + len("\nassistant\n") + 2
    assert tokens.ours == whole + 3 * rest
    assert time.ratio == time.peer / time.ours
