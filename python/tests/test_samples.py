"""Files of --samples: what they hold, against the results of the same run, and what is not whole."""

import json
import struct
from statistics import fmean

import pytest
from results import samples

import numatlas

WORDS = ("latency", "guest-tiers.json", "--size", "1MiB,64MiB", "--threads", "2")


def test_they_are_those_that_the_results_are_made_of(measure, plain):
    """A second run of the scripted clock, which is always the same."""
    path = measure(*WORDS, output="--samples")
    result, report = numatlas.load(path), plain(measure(*WORDS))
    assert (result.kind, result.meta["command"], list(result.frames())) == ("samples", "latency", ["samples"])
    assert set(result.samples["unit"]) == {"s"} and set(result.samples["metric"]) == {"latency"}
    by_flow = {key: list(rows["value"]) for key, rows in result.samples.groupby(["point", "worker"])}
    assert by_flow == {key: list(values) for key, values in samples(path).items()}
    assert len(by_flow) == 4
    for index, case in enumerate(report["cases"]):
        names = result.samples.loc[result.samples["point"] == index, "name"]
        assert set(names) == {case["name"]}
        assert sum(case["distribution"]["counts"]) == len(names)
        for flow in case["flows"]:
            values, figure = by_flow[index, flow["worker"]], flow["figures"][0]
            assert len(values) == figure["summary"]["n"]
            assert fmean(values) == pytest.approx(figure["summary"]["mean"], rel=1e-6)
            assert (min(values), max(values)) == pytest.approx(
                (figure["summary"]["min"], figure["summary"]["max"]), rel=1e-6
            )


def test_bins_of_the_distribution_hold_the_samples(measure, plain):
    report = plain(measure(*WORDS))
    values = numatlas.load(measure(*WORDS, output="--samples")).samples
    for index, case in enumerate(report["cases"]):
        told = case["distribution"]
        assert told["bins"] == sorted(set(told["bins"]))
        for place, count in zip(told["bins"], told["counts"], strict=True):
            mine = values.loc[values["point"] == index, "value"]
            # At an end of a bin the last digit decides.
            most = ((mine >= 1.02**place * (1 - 1e-9)) & (mine <= 1.02 ** (place + 1) * (1 + 1e-9))).sum()
            least = ((mine >= 1.02**place * (1 + 1e-9)) & (mine <= 1.02 ** (place + 1) * (1 - 1e-9))).sum()
            assert least <= count <= most


def made(flows, values, version=1):
    index = json.dumps({"command": "latency", "started": "1970-01-01T00:00:00Z", "flows": flows})
    head = f"NUMATLAS-SAMPLES {version}\n{len(index)}\n{index}\n"
    return head.encode() + struct.pack(f"<{len(values)}d", *values)


def flow(count, worker=0):
    return {"case": 0, "name": "a", "worker": worker, "figure": "latency", "unit": "s", "count": count}


def test_rows_are_those_of_the_index(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(made([flow(2), flow(1, worker=3)], [1.5, 2.5, 3.5]))
    rows = numatlas.load(path).samples[["worker", "value"]]
    assert list(rows.itertuples(index=False, name=None)) == [(0, 1.5), (0, 2.5), (3, 3.5)]
    path.write_bytes(made([], []))
    assert numatlas.load(path).samples.empty


def test_every_cut_is_noticed(tmp_path):
    whole = made([flow(2), flow(1, worker=3)], [1.5, 2.5, 3.5])
    path = tmp_path / "cut"
    for end in range(len("NUMATLAS-SAMPLES 1\n"), len(whole)):
        path.write_bytes(whole[:end])
        with pytest.raises(numatlas.FileError, match="ends in the middle: a copy that was cut"):
            numatlas.load(path)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (made([flow(1)], [1.5], version=2), "samples of version 2: of a newer numatlas"),
        (made([flow(1)], [1.5, 2.5]), "it has more samples than its index names"),
        (made([flow(-1), flow(2)], [1.5]), "damaged"),
        (made([{"case": 0}], []), "it has no 'count'"),
        (made(3, []), "damaged"),
        (b"NUMATLAS-SAMPLES 1\n2\n[]\n", "damaged"),
        (b"NUMATLAS-SAMPLES 1\nmany\n", "ends in the middle"),
        (b"NUMATLAS-SAMPLES 1\n" + b"9" * 30 + b"\n", "damaged"),
    ],
)
def test_damage_is_told_in_one_line(tmp_path, data, words):
    path = tmp_path / "a"
    path.write_bytes(data)
    with pytest.raises(numatlas.FileError) as error:
        numatlas.load(path)
    assert str(error.value).startswith(f"{path}: ") and words in str(error.value)
    assert "\n" not in str(error.value)
