.PHONY: demo test check bench fire extras lowest clean

PYTHON ?= python3
BIN := .venv/bin
DEMO := icr2
CONFIGS := --config 1k_p0 --config 1k_p100
METHODS := --method closed_book --method vanilla_rag --method oracle_rag

# One environment for everything; made anew when what it is made from changes.
.venv/ready: pyproject.toml constraints.txt builders/bundled.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement builders/bundled.txt
	touch $@

demo: .venv/ready  ## build a real dataset and run a small model on it, without a network
	$(BIN)/icr2 build demo --out $(DEMO)
	$(BIN)/icr2 validate $(DEMO) --html $(DEMO).validation --fail-on warning
	$(BIN)/icr2 card $(DEMO)
	$(BIN)/icr2 eval $(DEMO) $(CONFIGS) $(METHODS) --model smollm2 --limit 3 --out runs/demo
	$(BIN)/icr2 report runs/demo --dataset $(DEMO) --out runs/demo-report
	@echo
	@echo 'The dataset is in $(DEMO)/, its card in $(DEMO)/README.md, what was checked in $(DEMO).validation/index.html,'
	@echo 'the answers of the model in runs/demo-report/report.html.'
	@echo 'Copy one of these:'
	@echo '  datasets   $(BIN)/python -c "from datasets import load_dataset; print(load_dataset('"'$(DEMO)', '32k_p75'"'))"'
	@echo '  DuckDB     $(BIN)/icr2 sql $(DEMO) '"'"'SELECT task, avg(n_tokens) FROM "32k_p75" GROUP BY task'"'"
	@echo '  lm-eval    $(BIN)/lm_eval run --model hf --model_args "pretrained=$$($(BIN)/icr2 models smollm2)" \'
	@echo '               --apply_chat_template --tasks icr2_1k_p75 --include_path "$$($(BIN)/icr2 tasks)" --limit 1'

test: .venv/ready  ## every test that needs no network and no GPU
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not gpu and not network"

check: .venv/ready  ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready  ## ours beside a peer, in one run; prints ratios
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,bench]'
	$(BIN)/python -m benchmarks

fire: .venv/ready  ## kills at random moments and mutated files, seeded: hours
	$(BIN)/python -m tests.fire

extras: .venv/ready  ## the core and each extra, in environments of their own: half an hour
	$(BIN)/python -m tests.check_extras

# torch stays at the version of .venv: every other one brings gigabytes of CUDA.
LOWEST := .venv.lowest
lowest: .venv/ready  ## the quick tests with the lowest version of every direct dependency
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	$(BIN)/python -c 'from importlib.metadata import version; print("torch==" + version("torch"))' > $(LOWEST)/torch.txt
	UV_FIND_LINKS="$${UV_FIND_LINKS-$$PIP_FIND_LINKS}" $(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python \
		--resolution lowest-direct --constraint $(LOWEST)/torch.txt --editable '.[dev]'
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --requirement builders/bundled.txt
	$(LOWEST)/bin/python -m pytest -q -n 2 --dist loadfile -m "not gpu and not network and not slow"

clean:  ## remove what can be made again
	rm -rf .venv $(LOWEST) icr2 icr2.work icr2.validation runs
