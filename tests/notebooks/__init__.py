"""The notebooks run from a clean kernel, and what is committed in them is what they give."""
