#!/usr/bin/env python3
"""Draws heat maps of the nodes in a .dat file of distributed_streams; see --help."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import python_package  # noqa: E402

python_package.run("heat_maps")
