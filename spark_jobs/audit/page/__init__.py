"""The audit as a page that needs nothing else.

- `html`: the page; `style`: its style sheet and script; `plots`, `plot_times`: its plots.
"""
