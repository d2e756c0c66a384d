#!/usr/bin/env bash
# numactl.sh BIN_FOLDER SCRIPT: runs one of the interleave scripts where a stand-in for numactl tells the program what
# the real one would have set: the machine of these tests is a recorded one.
set -u
cd "$(dirname -- "$2")/../tests/topologies" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cat >"$folder/numactl" <<'END'
#!/usr/bin/env bash
nodes=${1#*=}
case $1 in
  --interleave=*) memory=interleave:$nodes ;;
  --weighted-interleave=*)
    memory=weighted:
    for node in ${nodes//,/ }; do memory+=$node=$(<"$NUMATLAS_TEST_WEIGHTS/node$node"),; done
    memory=${memory%,} ;;
esac
shift
NUMATLAS_TEST_MEMORY=$memory exec "$@"
END
chmod +x "$folder/numactl"
mkdir "$folder/weights"
export NUMATLAS_TEST_WEIGHTS=$folder/weights
for node in 0 1 2 auto; do echo 7 >"$folder/weights/${node/[0-9]/node$node}"; done
BENCHMARK=$1/numa_gpu_xfer_bench PATH=$folder:$PATH bash "$2" 2>"$folder/err" </dev/null
status=$?
echo '--- standard error ---'
cat "$folder/err"
echo "--- exit code $status, weights $(cat "$folder"/weights/* | paste -sd ' ') ---"
