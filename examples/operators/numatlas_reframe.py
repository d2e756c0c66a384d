"""STREAM by numatlas as a ReFrame test: `reframe -c numatlas_reframe.py -r`.

Slow nodes of a job fail it. `--setvar nodes=16` measures that many nodes together; one node alone has no
others to be compared with, and its rates are held against the `reference` of the system."""

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class NumatlasStream(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "numatlas"
    executable_opts = ["stream", "--quiet", "--lines"]
    nodes = variable(int, value=1)
    # Of your system: reference = {"cluster:compute": {"triad": (350e9, -0.05, None, "B/s")}}

    @run_before("run")
    def one_task_per_node(self):
        self.num_tasks = self.nodes
        self.num_tasks_per_node = 1

    @sanity_function
    def every_node_is_judged_and_none_is_slow(self):
        summary = r"^numatlas_stream_summary hosts=(?P<hosts>\d+) judged=(?P<judged>\d+) slow=(?P<slow>\d+) complete=yes"
        hosts, judged, slow = (sn.extractsingle(summary, self.stdout, name, int) for name in ("hosts", "judged", "slow"))
        return sn.all([
            sn.assert_eq(hosts, self.nodes),
            sn.assert_eq(slow, 0),
            sn.assert_true(sn.or_(self.nodes == 1, judged == hosts), "not every node was judged"),
        ])

    @performance_function("B/s")
    def triad(self):
        return sn.extractsingle(
            r"^numatlas_stream .*kernel=triad .*node_median_bytes_per_second=(\d+)", self.stdout, 1, float)
