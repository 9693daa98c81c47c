"""Fine-tuning on the train split of a dataset."""
