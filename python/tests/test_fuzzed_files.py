"""Files with random damage: read, or refused in one line that names the file.

NUMATLAS_FUZZ_EXAMPLES sets the number of texts for each kind of file (default 60). Files that the program
reads itself are fuzzed by tests/fuzz/run.
"""

import os

import pytest
from commands import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import numatlas
from numatlas.figures import figures_of
from numatlas.file_error import FileError

MAPPING = "rank,host,cpu,node\n0,a,0,0\n1,a,4,1\n"
SEEDS = {
    "ranks.csv": (ROOT / "examples" / "published" / "numa_mem_bench-lumig-domain0.csv").read_text(),
    "mapping.csv": MAPPING,
    "stream.dat": (ROOT / "tests" / "golden" / "fleet" / "memory_results-48x1-100101042021.dat").read_text(),
    "result.json": (ROOT / "tests" / "golden" / "fleet" / "run1.json").read_text(),
}
EXAMPLES = int(os.environ.get("NUMATLAS_FUZZ_EXAMPLES", "60"))

#: What damaged files hold where a number or a word should be.
PIECES = (
    *("", ",", "\n", '"', "'", "-", "=1+1", "nan", "inf", "-1", "0", "1e999", "9" * 40, "0x10", "\0"),
    *("null", "[]", "{}", "true", "<a>", "</Copy>", "\u00e9", "\u202e", "all", "none", "ordinary"),
)


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    """The text with up to six parts replaced, repeated or left out, and perhaps cut."""
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from((0, 0, 1, 3, 10, 60))))
        piece = draw(st.sampled_from(PIECES) | st.text(max_size=4) | st.just(text[start : start + 80]))
        text = text[:start] + piece + text[end:]
    return text[: draw(st.integers(0, len(text)))] if draw(st.integers(0, 3)) == 0 else text


@pytest.mark.parametrize("name", SEEDS)
def test_is_read_or_refused_in_one_line(name, tmp_path):
    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(damaged(SEEDS[name]))
    def read(text):
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            result = numatlas.load(path)
            figures_of(result)
        except FileError as error:
            told = str(error)
            assert told.startswith(f"{path}: "), told
            assert "\n" not in told and len(told) < 500, told

    read()
