"""The version is that of the repository: its file VERSION, or what an sdist was made of."""

from pathlib import Path

from setuptools import setup

setup(version=(Path(__file__).resolve().parent.parent / "VERSION").read_text(encoding="utf-8").strip())
