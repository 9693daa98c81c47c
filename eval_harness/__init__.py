"""Runs models on a built dataset and scores them: load -> condition -> method -> model -> parse -> score -> report."""
