"""Behaviour of single parts; mirrors the package."""
