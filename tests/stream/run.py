"""run.py CASE NUMATLAS [LAUNCHER...]: one function case_CASE of the modules below. Exit 77: skipped."""

import sys
import tempfile
from pathlib import Path

import faults
import figures
import options
import persistent
import planted
from harness import Failed, Skipped, Trial

name, numatlas, *launcher = sys.argv[1:]
function = next((getattr(module, f"case_{name}") for module in (faults, figures, options, persistent, planted)
                 if hasattr(module, f"case_{name}")), None)
if function is None:
    sys.exit(f"unknown case {name}")
with tempfile.TemporaryDirectory() as folder:
    trial = Trial(numatlas, launcher, Path(folder))
    try:
        function(trial)
    except Failed as failed:
        sys.exit(f"FAILED: {failed}")
    except Skipped as skipped:
        print(f"skipped: {skipped}")
        sys.exit(77)
    finally:
        trial.clean_up()
