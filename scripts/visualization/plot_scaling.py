#!/usr/bin/env python3
"""Draws the latencies that numa_mem_bench wrote, by rank and NUMA node; see --help."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import python_package  # noqa: E402

python_package.run("scaling")
