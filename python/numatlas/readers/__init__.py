"""Readers: one a form of file."""
