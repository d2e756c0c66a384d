#!/usr/bin/env bash
# compare_run.sh NUMATLAS: `numatlas compare --run A --run B` on the null engine.
set -u
numatlas=$1
cd "$(dirname "${BASH_SOURCE[0]}")/../topologies" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tmp"
export TMPDIR=$folder/tmp
fail() {
  echo "FAILED: $*"
  cat "$folder/out" "$folder/err"
  exit 1
}
# measured EXIT_CODE WORDS...: output in $folder/out and $folder/err; nothing stays in $TMPDIR.
measured() {
  local code=$1 status
  shift
  "$numatlas" compare "$@" >"$folder/out" 2>"$folder/err" </dev/null
  status=$?
  [ "$status" -eq "$code" ] || fail "exit code $status instead of $code: $*"
  [ -z "$(ls "$TMPDIR")" ] || fail "left in the temporary folder: $(ls "$TMPDIR")"
}

one='latency --engine null --machine guest-four-nodes.json --cpus 0 --threads 1 --size 64MiB --time 50ms'
measured 0 --run "$one" --run "$one"
grep -q '^same ' "$folder/out" || fail 'equals are not the same'
grep -q '^both sides were measured in turn, 5 times each' "$folder/out" || fail 'does not tell of the pairs'
order=$(sed -n 's/^\[[0-9]*\/10\] \([A-Z]*\): .*/\1/p' "$folder/err" | paste -sd' ')
[ "$order" = 'BASE NEW NEW BASE BASE NEW NEW BASE BASE NEW' ] || fail "in another order: $order"

# Asked for different things: matched by their order, at whatever place.
measured 1 --run "$one --memory bind:0" --run "$one --memory bind:1" --pairs 3 --keep "$folder/kept"
grep -q '^slower ' "$folder/out" || fail 'another node is not slower'
[ "$(cd "$folder/kept" && echo *)" = 'a-1.json a-2.json a-3.json b-1.json b-2.json b-3.json' ] || fail 'kept'
# What was kept can be compared again, as launches that were not in turn.
measured 0 --base "$folder"/kept/a-*.json --new "$folder"/kept/a-*.json
grep -q "^Student's t over 3 and 3 launches" "$folder/out" || fail 'does not tell of the launches'

# Runs with pilots: the machine as a whole stands beside the cases, and does not match for them.
noisy='bandwidth --engine null --noise lognormal=1% --cpus 0 --threads 1 --kernels read --size 256MiB --time 5s'
noisy+=' --visits 5 --machine "numa:2(memory=64GiB) core:2 pu:1"'
"$numatlas" compare --run "$noisy" --run "$noisy" --pairs 3 >"$folder/out" 2>"$folder/err"
case $? in 0 | 1 | 9) ;; *) fail 'noise' ;; esac
grep -q 'the machine as a whole (pilot)  *read' "$folder/out" || fail 'no row of the pilots'
measured 0 --run "$noisy --memory bind:0" --run "$noisy --memory bind:1" --pairs 3 --no-fail
grep -qE '(slower|faster|same|not distinguishable) .*read 256MiB base' "$folder/out" || fail 'not matched by their order'
grep -q 'the machine as a whole' "$folder/out" && fail 'pilots of other memory are compared'

# Any command line that ends in one of numatlas.
measured 0 --run "env SOME=1 '$numatlas' $one" --run "$one" --format json --pairs 3
python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
case, = (one for one in value["cases"] if one["labels"]["row"] == "case")
base = next(one for one in case["figures"] if one["key"] == "base")
assert case["labels"]["verdict"] == "same" and base["estimate"]["n"] == 3, case' "$folder/out" || fail 'its JSON'

# What fails ends it, before the others are measured.
measured 2 --run "$one" --run 'latency --size x' --keep "$folder/kept"
grep -q "^numatlas: error: --run: 'latency --size x' ended with exit code 2" "$folder/err" || fail 'which command failed'
measured 2 --run "$one" --run 'true'
grep -q "'true' wrote no result" "$folder/err" || fail 'a command without a result'
measured 2 --run "$one" --run "${one/latency/bandwidth --kernels read}"
grep -q 'have no case in common' "$folder/err" || fail 'commands without a common case'
[ "$(grep -c '^\[' "$folder/err")" -eq 2 ] || fail 'went on measuring what cannot be compared'
touch "$folder/file"
measured 6 --run "$one" --run "$one" --keep "$folder/file/below"
grep -q '^numatlas: error: --keep: ' "$folder/err" || fail 'a folder that cannot be made'

# A stop is passed on to what is being measured; what was measured so far goes, unless nobody is left to remove it.
for signal in INT:130 TERM:143 KILL:137; do
  setsid "$numatlas" compare --run 'latency --time 20s --size 1' --run latency \
    >"$folder/out" 2>"$folder/err" </dev/null &
  pid=$!
  for ((i = 0; i < 100; ++i)); do
    measuring=$(pgrep -oP "$pid") && break
    sleep 0.1
  done
  sleep 0.5
  kill "-${signal%:*}" "$pid"
  wait "$pid"
  status=$?
  [ "$status" -eq "${signal#*:}" ] || fail "exit code $status after SIG${signal%:*}"
  if [ "${signal%:*}" = KILL ]; then
    for ((i = 0; i < 100; ++i)); do
      if pgrep -g "$measuring" >/dev/null; then sleep 0.1; fi
    done
    rm -rf -- "${TMPDIR:?}"/*
  fi
  [ -z "$(ls "$TMPDIR")" ] || fail "left after SIG${signal%:*}: $(ls "$TMPDIR")"
  ! pgrep -g "$measuring" >/dev/null || fail "still measuring after SIG${signal%:*}"
done
