"""results.py NUMATLAS SOURCE NAME: examples/results/NAME.json has the fields that a survey has now.

The survey to compare with is the null engine's, of the same emulated machine.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from results import load  # noqa: E402

# Objects whose keys are data: they differ with what was measured, and how it came out. Drawn tables leave out what
# they do not have.
DATA = ("labels", "where", "pages_by_node", "drawn")
# Of runs beside loads on other memory, for which an emulated machine is too slow.
OPTIONAL = {"answer"}


def fields(value, path: str, found: dict[str, set[str]]) -> dict[str, set[str]]:
    """The keys of every object in a document, by its place."""
    if isinstance(value, dict):
        found.setdefault(path or "the file", set()).update(value)
        for key, inner in value.items():
            if key not in DATA:
                fields(inner, f"{path}.{key}".lstrip("."), found)
    elif isinstance(value, list):
        for inner in value:
            fields(inner, f"{path}[]", found)
    return found


def benchmarks(survey: dict) -> set[str]:
    """Those that it ran or says why it did not."""
    return {item["benchmark"] for part in ("plan", "skipped") for item in survey[part]}


def main() -> int:
    numatlas, source, name = sys.argv[1:]
    example = load(Path(source, f"examples/results/{name}.json"))
    with tempfile.TemporaryDirectory() as folder:
        machine = f"{source}/tests/topologies/guest-{name}.json"
        command = [numatlas, "survey", "--engine", "null", "-q", "--no-report", "-o", folder, "--machine", machine]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        survey = load(Path(folder, "survey.json"))
    wrong = []
    if example["schema_version"] != survey["schema_version"]:
        wrong.append(f"schema_version is {example['schema_version']}, now {survey['schema_version']}")
    if benchmarks(example) != benchmarks(survey):
        wrong.append(f"benchmarks: {sorted(benchmarks(example))}, now {sorted(benchmarks(survey))}")
    old, new = fields(example, "", {}), fields(survey, "", {})
    for place in sorted(set(old) & set(new)):  # an object may be null in one of them
        wrong += [f"{place}: no field {key} as there is now" for key in sorted(new[place] - old[place] - OPTIONAL)]
        wrong += [f"{place}: field {key} is no more" for key in sorted(old[place] - new[place])]
    for text in wrong:
        print(f"FAILED: examples/results/{name}.json: {text}")
    if wrong:
        print("examples/README.md says how it is made again")
    return 1 if wrong else 0


sys.exit(main())
