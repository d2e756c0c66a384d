"""run.py CASE NUMATLAS [LAUNCHER...]: one function case_CASE of the modules below. Exit 77: skipped."""

import sys

import faults
import figures
import options
import persistent
import planted
from harness import carry_out

name, numatlas, *launcher = sys.argv[1:]
function = next((getattr(module, f"case_{name}") for module in (faults, figures, options, persistent, planted)
                 if hasattr(module, f"case_{name}")), None)
if function is None:
    sys.exit(f"unknown case {name}")
carry_out(function, numatlas, launcher)
