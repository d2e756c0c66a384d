#!/usr/bin/env bash
# normal.sh NUMATLAS: what `check` and a survey say of recorded machines that are taken for machines of clouds, beside
# what others published; measured by the null engine, which their files do not say. A line a case: machine | its
# processor | its provider | changes (Python, of `m`) | words of check.
set -u
numatlas=$1
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
cd "$(dirname "${BASH_SOURCE[0]}")/../topologies" || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cloud='m["hypervisor"] = "KVM"; m["caches"] = []; m["cpu_model"] = "MODEL"; m["identity"] = dict(installation="", firmware="", boot="", product="", provider="PROVIDER")'
printf '# name: own\n# source: https://example.org\n# date: 2026-11\n# licence: none\nprovider,processor,cpus,read_gb_s\n' >"$folder/head.csv"
{ cat "$folder/head.csv"; printf 'own,Mine 1,16,%s\n' 180 185 190; } >"$folder/own.csv"
{ cat "$folder/head.csv"; echo 'own,Mine 1,none,180'; } >"$folder/damaged.csv"
while IFS='|' read -r machine model provider more words; do
  change=${cloud/MODEL/$model}
  python3 - "$machine" "$folder/machine.json" "${change/PROVIDER/$provider}; $more" <<'END' || exit 1
import json, sys
m = json.load(open(sys.argv[1]))
exec(sys.argv[3])
json.dump(m, open(sys.argv[2], "w"))
END
  command=(bandwidth --kernels read)
  [[ $more != *gpu* ]] || command=(transfer --gpus 0 --measure copies --direction "h2d,d2h")
  to=(--json "$folder/run.json") file=$folder/run.json
  if [[ $more == *survey* ]]; then
    command=(survey --only bandwidth --machine-type r8g.4xlarge)
    to=(--no-report -o "$folder/survey") file=$folder/survey/survey.json
  fi
  "$numatlas" "${command[@]}" --engine null --machine "$folder/machine.json" -q "${to[@]}" >/dev/null || exit 1
  [[ $words == *line* ]] || sed -i 's/"engine": "null[^"]*"/"engine": "threads"/' "$file"
  echo "\$ ${command[*]}, ${provider:-no provider}, $model${more:+, $more}; check $words"
  # shellcheck disable=SC2086
  "$numatlas" check "${to[-1]}" ${words//FOLDER/$folder} 2>&1 |
    sed "s|$folder|FOLDER|g" | grep -vE '^$|^warning: not judged|^(slow|MAD): |^null engine'
  echo "--- exit code ${PIPESTATUS[0]} ---"
done <<'END'
two-sockets-four-gpus.json|Neoverse-V1|aws||
two-sockets-four-gpus.json|Neoverse-V2|aws||
two-sockets-four-gpus.json|Neoverse-V2|aws||--format line
two-sockets-four-gpus.json|Neoverse-V2|aws|[c.update(core=c["id"] // 2) for c in m["cpus"]]|
two-sockets-four-gpus.json|AMD EPYC 9R99|aws||
two-sockets-four-gpus.json|Neoverse-V2|nobody||
two-sockets-four-gpus.json|Neoverse-V2|||
two-sockets-four-gpus.json|Neoverse-V2|||--machine-type r8g.4xlarge
two-sockets-four-gpus.json|Neoverse-V2|||--machine-type r99g.4xlarge
two-sockets-four-gpus.json|Neoverse-V2||# a survey|
two-sockets-four-gpus.json|Mine 1|own||--published FOLDER/own.csv
two-sockets-four-gpus.json|Mine 1|own||--published FOLDER/damaged.csv
two-sockets-four-gpus.json|Mine 1|own||--published FOLDER/none.csv
two-sockets-four-gpus.json|Intel(R) Xeon(R) Platinum 8480+||m["hypervisor"] = ""|
two-sockets-four-gpus.json|A|aws|m["gpus"][0]["index"] = 0|
two-sockets-four-gpus.json|A|aws|m["gpus"][0]["path"][0].update(width=8, max_width=8)|
two-sockets-four-gpus.json|A|aws|m["gpus"][0]["name"] = "Mine"|
END
