# What the comparisons share: where lockmark is, a server of their own, medians, the environment.
# Sourced, not run. Needs bash and awk only.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=${LOCKMARK_BIN:-$root/build/release/bin}
work=$(mktemp -d "${TMPDIR:-/tmp}/lockmark-compare-XXXXXX")
# `lockmark up` and `down` keep their records here, apart from any that the user has.
export XDG_RUNTIME_DIR=$work
TIMEFORMAT='%R %U %S'
on_cores=()  # what is put before both sides' commands

die() { echo "${0##*/}: $*" >&2; exit 2; }
need() { command -v "$1" >/dev/null || die "$1 is needed: apt install $2"; }

[ -x "$bin/lockmark" ] || die "$bin/lockmark is missing: cmake --preset release && cmake --build --preset release"

clean_up() {
  "$bin/lockmark" down >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# up TOPOLOGY: starts a server of ours and prints its URL.
up() { "$bin/lockmark" up "$1" | awk 'NR == 1 { print $2 }'; }

# run JOB TARGET [--set KEY=VALUE]...: leaves $run_json, and real, user and system time in $took.
# Exit status 3 (a busy harness: these runs are meant to saturate it) is fine, a lost lock is not.
run() {
  local job=$1 target=$2 status=0
  shift 2
  rm -rf "$work/runs"
  took=$({ time timeout 120 "${on_cores[@]}" "$bin/lockmark" run "$here/$job" --on "$target" "$@" \
    --out "$work/runs" --quiet >"$work/said" 2>&1; } 2>&1) || status=$?
  if [ "$status" != 0 ] && [ "$status" != 3 ]; then
    cat "$work/said" >&2
    die "lockmark run $job ended with exit status $status"
  fi
  run_json=$(echo "$work"/runs/*/run.json)
}

# value KEY: the first number of that name in $run_json.
value() { awk -F'[:,]' -v key="\"$1\"" '$1 ~ key { gsub(/ /, "", $2); print $2; exit }' "$run_json"; }
# value_in SECTION KEY: the first one after the line that opens the section.
value_in() {
  awk -F'[:,]' -v section="\"$1\": {" -v key="\"$2\"" '
    index($0, section) { inside = 1 }
    inside && $1 ~ key { gsub(/ /, "", $2); print $2; exit }' "$run_json"
}

calc() { awk -v d="$1" "BEGIN { printf \"%.*f\", d, $2 }"; }

# spread: of the numbers on stdin, "median min q1 q3 max".
spread() {
  sort -n | awk '
    { v[NR] = $1 }
    function at(q,   p, i) { p = 1 + q * (NR - 1); i = int(p); return v[i] + (p - i) * (v[i < NR ? i + 1 : i] - v[i]) }
    END { printf "%.6g %.6g %.6g %.6g %.6g\n", at(.5), at(0), at(.25), at(.75), at(1) }'
}
median() { spread | cut -d' ' -f1; }

# verdict NUMBER OPERATOR LIMIT, as "yes" or "**no**".
verdict() { awk "BEGIN { print ($1 $2 $3) ? \"yes\" : \"**no**\" }"; }

# ratio_row NAME OPERATOR LIMIT < ratios of the pairs: a row of the table of results.
ratio_row() {
  local name=$1 operator=$2 limit=$3 mid min q1 q3 max
  read -r mid min q1 q3 max < <(spread)
  printf '| %s | %.3f | %.3f | %.3f to %.3f | %.3f | %s %s | %s |\n' \
    "$name" "$mid" "$min" "$q1" "$q3" "$max" "$operator" "$limit" "$(verdict "$mid" "$operator" "$limit")"
}
ratio_head() {
  echo '| lockmark / the other, by pairs | median | min | quartiles | max | needed | met |'
  echo '|---|---|---|---|---|---|---|'
}

# environment [VERSION...]: where and with what this was measured.
environment() {
  local revision dirty=''
  revision=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
  git -C "$root" diff --quiet HEAD -- 2>/dev/null || dirty=' with changes'
  echo '| environment | |'
  echo '|---|---|'
  echo "| date | $(date -u +%Y-%m-%dT%H:%MZ) |"
  echo "| lockmark | $("$bin/lockmark" --version), revision $revision$dirty, release build |"
  echo "| CPU | $(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) cores |"
  echo "| system | $(. /etc/os-release && echo "$PRETTY_NAME"), Linux $(uname -r) |"
  echo "| load average before | $(cut -d' ' -f1-3 /proc/loadavg) |"
  local version
  for version in "$@"; do echo "| with | $version |"; done
  echo
}
