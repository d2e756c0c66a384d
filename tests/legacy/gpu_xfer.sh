#!/usr/bin/env bash
# gpu_xfer.sh CASE BIN_FOLDER SOURCE_FOLDER FAKE_FOLDER: numa_gpu_xfer_bench and the scripts around it with the
# libcuda.so.1 of FAKE_FOLDER (tests/gpu). No figure of these runs is a measurement.
set -u
case=$1 bin=$2 source=$3 fake=$4
# shellcheck source=tests/legacy/checks.sh
. "$source/tests/legacy/checks.sh"
export LD_LIBRARY_PATH=$fake
cd "$folder" || exit 1
ln -s "$bin/numatlas" benchmark || exit 1 # as scripts/build makes build/benchmark

# The fake's settings come first: DEVICES=1.
set_fake() {
  while [[ ${1:-} == *=* ]]; do
    export "NUMATLAS_FAKE_CUDA_$1"
    shift
  done
}
bench() { # GPUS BYTES ITERATIONS OPERATIONS PINNED [WORDS...]
  run timeout -k 5 60 "$folder/benchmark" --ngpus "$1" --benchmark_bytes "$2" \
    --iterations_per_bench "$3" --operation_type "$4" --pin_memory "$5" -q "${@:6}"
}
sweep() { # the real numactl
  command -v numactl >/dev/null || { echo 'skipped: numactl is not installed' && exit 77; }
  BENCHMARK=$folder/benchmark run env "$@" timeout -k 5 60 "$source/scripts/interleave_scripts.sh"
}
lines() { [ "$(wc -l <<<"$out")" -eq "$1" ] || fail "there are not $1 lines"; }
figure='[0-9]+\.[0-9]{2,9}'
node=$(cut -d- -f1 /sys/devices/system/node/has_memory | cut -d, -f1)
row_end="$figure,$figure,$figure,$figure\$"
head='ngpus,numa_nodes,access_size(bytes),read_latency(ms),read_bw(gib/s),write_latency(ms),write_bw(gib/s)'

json() { # FILE EXPRESSION over j: must be true
  PYTHONPATH=$source/tests python3 -c "import sys
from results import figure, load
j = load(sys.argv[1])
sys.exit(not ($2))" "$1" ||
    fail "$1: not so: $2"
}

# counted ITERATIONS GPUS: by the driver's log and out.json each direction of each GPU has so many copies after
# its warm-up, each between two events and waited for; and each iteration is over on all GPUs before the next.
counted() {
  PYTHONPATH=$source/tests python3 - out.json calls "$1" "$2" <<'P' || fail "not $1 copies on each of $2 GPUs"
import re
import sys
from results import figure, load

cases, calls, (iterations, gpus) = load(sys.argv[1])["cases"], open(sys.argv[2]), map(int, sys.argv[3:])
letters = {"cuEventRecord": "R", "cuEventSynchronize": "W", "cuMemcpyHtoDAsync": "C", "cuMemcpyDtoHAsync": "C"}
streams, stream_of, copied = {}, {}, []
for line in calls:
    name, *words = line.split()
    values = dict(word.split("=") for word in words if "=" in word)
    if name == "cuEventRecord":
        stream_of[values["event"]] = values["stream"]
    stream = values.get("stream") or stream_of.get(values.get("event"))
    if name in letters and stream in stream_of.values():
        streams[stream] = streams.get(stream, "") + letters[name]
        if letters[name] == "C":
            copied.append((stream, values["device"]))
assert len(streams) == gpus * len(cases), streams.keys()
used = iter(sorted(streams, key=int))
for case in cases:
    together = [next(used) for _ in range(gpus)]
    for flow in case["flows"]:
        assert figure(flow, "copy_latency")["summary"]["n"] == iterations, flow
        assert flow["stop"] == "passes", flow
    # An event beside the host's clock before and after, and nothing else.
    warm_up = case["flows"][0]["warm_up_steps"]
    for stream in together:
        assert re.fullmatch("(RW)+(RCRW){%d}(RW)+" % (warm_up + iterations), streams[stream]), streams[stream]
    timed = [device for stream, device in copied if stream in together][gpus * warm_up :]
    for i in range(0, len(timed), gpus):
        assert len(set(timed[i : i + gpus])) == gpus, timed
P
}

case $case in
  exact)
    set_fake LOG="$folder/calls"
    for gpus in 1 2; do
      for iterations in 1 3 20; do
        rm -f calls
        bench "$gpus" 1048576 "$iterations" R,W 1 --json out.json
        ends_with 0
        counted "$iterations" "$gpus"
      done
    done
    # The iterations of two GPUs are under way at the same time. A copy takes 62 ms, far longer than a busy machine
    # may delay one of the two.
    set_fake RATE=67108864
    bench 2 4194304 10 R 1 --json out.json
    json out.json 'figure(j["cases"][0], "copies_overlap")["estimate"]["value"] > 0.5' ;;
  lines)
    bench 1 1048576 5 R,W 1
    ends_with 0
    lines 4
    says "^Average host-to-device latency: $figure ms\$"
    says "^Average host-to-device bandwidth: $figure GiB/s\$"
    says "^Average device-to-host latency: $figure ms\$"
    says "^Average device-to-host bandwidth: $figure GiB/s\$"
    bench 1 5000 5 W 0 --json out.json
    ends_with 0
    lines 2
    says '^Average device-to-host latency: '
    # Rounded up, pageable, and as many copies as were asked for.
    json out.json 'len(j["cases"]) == 1 and j["cases"][0]["size"] == 8192'
    json out.json 'j["cases"][0]["labels"]["pinning"] == "pageable"' ;;
  together)
    set_fake RATE=67108864
    bench 2 4194304 10 R 1 --json out.json
    ends_with 0
    grep -q 'took turns' <<<"$err" && fail 'they did not take turns'
    json out.json 'len(j["cases"][0]["flows"]) == 2'
    json out.json 'all(figure(f, "copy_latency")["summary"]["n"] == 10 for f in j["cases"][0]["flows"])' ;;
  serialised)
    set_fake SERIAL=1 RATE=1073741824
    bench 2 4194304 5 R 1
    ends_with 0
    lines 2
    warns_once '^warning: latency h2d .* gpu 0,1 .*: the copies took turns' ;;
  cut-off) # 1,000 copies would take 4 s
    set_fake RATE=1073741824
    bench 1 4194304 1000 R 1 --time 300ms
    ends_with 0
    lines 2
    warns_once '^warning: .*: the time limit ended it after [1-9][0-9]* of 1000 copies per GPU$' ;;
  no-gpu)
    set_fake INIT=100
    bench 1 4096 1 R 1
    ends_with 3
    prints ''
    warns_once '^(benchmark|numa_gpu_xfer_bench): error: no GPU can be used: cuInit: .*there is no GPU'
    warns 'a container needs --gpus all' ;;
  fails) # one row, and the others go on
    bench 3 4096 1 R 1
    ends_with 3
    warns_once 'error: --ngpus: no GPU 2; available: 0, 1$'
    set_fake MEMORY=4194304 # of the GPU
    sweep NGPUS=1 NODES="$node" SIZES='4096 67108864 16384' ITERATIONS=3
    ends_with 5
    lines 4
    says "^1,\"$node\",4096,$row_end"
    says "^1,\"$node\",67108864,\"?failed: .*,failed,\"?failed: .*,failed\$"
    says "^1,\"$node\",16384,$row_end"
    warns_once '^interleave_scripts.sh: error: 1 of 3 rows failed; the first: ' ;;
  wrong-data)
    set_fake CORRUPT=1
    bench 1 65536 3 R,W 1
    ends_with 70
    says '^Average host-to-device latency: - ms$'
    warns 'the copy is wrong from byte ' ;;
  missing) # as on most machines: no such node, no second GPU
    set_fake DEVICES=1
    sweep NGPUS='1 2' NODES="$node 1021" SIZES='1024 1048576' ITERATIONS=3
    ends_with 1
    lines 9
    [ "$(head -n 1 <<<"$out")" = "$head" ] || fail 'the first line is another'
    says "^1,\"$node\",1024,$row_end"
    says "^1,\"$node\",1048576,$row_end"
    says '^1,"1021",1024,"?failed: .*1021.*,failed,"?failed: .*,failed$'
    says "^2,\"$node\",1024,\"?failed: --ngpus: no GPU 1; available: 0"
    warns_once '^interleave_scripts.sh: error: 6 of 8 rows failed; the first: ' ;;
  weights) # are restored, also after a stop
    mkdir weights
    for node in 0 1; do echo 5 >"weights/node$node"; done
    cat >numactl <<'END'
#!/bin/sh
cat "$NUMATLAS_TEST_WEIGHTS"/node* >>set
[ -z "$STOP" ] || kill -"$STOP" "$PPID"
END
    chmod +x numactl
    for stop in '' TERM INT; do
      rm -f set
      BENCHMARK=/bin/true PATH=$folder:$PATH NUMATLAS_TEST_WEIGHTS=$folder/weights STOP=$stop NODES=0,1 SIZES=4096 \
        WEIGHTS='1,2 3,4' run "$source/scripts/weighted_interleave_scripts.sh"
      [ "$(head -n 2 set | paste -sd' ')" = '1 2' ] || fail 'the weights were not set'
      [ "$(cat weights/*)" = $'5\n5' ] || fail "the weights are not restored after '$stop'"
    done
    WEIGHTS=1,2,3 NODES=0,1 BENCHMARK=/bin/true PATH=$folder:$PATH run "$source/scripts/weighted_interleave_scripts.sh"
    ends_with 2
    warns_once 'error: WEIGHTS: 1,2,3 has not a weight for each of the nodes 0,1$' ;;
  *) echo "unknown case $case"; exit 1 ;;
esac
