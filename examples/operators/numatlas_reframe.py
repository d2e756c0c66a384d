"""STREAM by numatlas as a ReFrame test: `reframe -c numatlas_reframe.py -r`.

Slow nodes of a job fail it. `--setvar nodes=16` measures that many nodes together; one node alone has no
others to be compared with, and its rates are held against the `reference` of the system."""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class NumatlasStream(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "numatlas"
    executable_opts = ["stream", "--quiet", "--json", "report.json"]
    nodes = variable(int, value=1)
    # Of your system: reference = {"cluster:compute": {"triad": (350e9, -0.05, None, "B/s")}}

    @run_before("run")
    def one_task_per_node(self):
        self.num_tasks = self.nodes
        self.num_tasks_per_node = 1

    def written(self):
        return json.loads((Path(self.stagedir) / "report.json").read_text())

    @sanity_function
    def every_node_is_judged_and_none_is_slow(self):
        report = self.written()
        of_hosts = next(case for case in report["cases"] if case["labels"].get("finding") == "none")["host_figures"]
        judged, slow = (sum(figure["estimate"]["value"] for host in of_hosts for figure in host["figures"]
                            if figure["key"] == key) for key in ("host_judged", "host_slow"))
        return sn.all([
            sn.assert_true(report["complete"], "the run did not come to its end"),
            sn.assert_eq(len(report["hosts"]), self.nodes),
            sn.assert_eq(slow, 0),
            sn.assert_true(self.nodes == 1 or judged == self.nodes, "not every node was judged"),
        ])

    @performance_function("B/s")
    def triad(self):
        triad = next(case for case in self.written()["cases"] if case["name"] == "triad")
        return next(figure["estimate"]["value"] for figure in triad["figures"] if figure["key"] == "bandwidth")
