#!/usr/bin/env bash
# The gate of a pipeline: is this checkout's lockmark worse than that of another revision? Builds
# both, starts local servers, and leaves its summary, JUnit files and run folders in build/gate.
#
#   deploy/ci/gate.sh --quick REVISION    one to three minutes of measuring
#   deploy/ci/gate.sh --full REVISION     ten minutes for the timings, and the counts of every lock
#
# Exit status: 0 nothing has become worse; 1 something has; 2 it could not be measured; 3 the
# machine was too restless to tell. Let 3 warn rather than fail where machines are shared.
set -eu
cd "$(dirname "$0")/../.."
. deploy/shell.sh

case "${1:-}" in
  --quick | --full) depth=$1 ;;
  *) echo "Usage: deploy/ci/gate.sh --quick|--full REVISION" >&2; exit 2 ;;
esac
revision=${2:?which revision is the baseline?}
out=build/gate
baseline=$PWD/build/gate-baseline
summary=$out/summary.md
counts=commands_per_acquire,round_trips_per_acquire
mkdir -p "$out"
: >"$summary"

# shellcheck disable=SC2154  # of shell.sh
missing=$(missing_packages "${build_packages[@]}" "${server_packages[@]}")
# shellcheck disable=SC2086  # one word each
if [ -n "$missing" ]; then install_packages $missing; fi

rm -rf "$baseline"
git worktree prune
git worktree add --detach "$baseline" "$revision" >/dev/null
(cd "$baseline" && . deploy/shell.sh && configure release && build release lockmark)
configure release && build release lockmark
lockmark=build/release/bin/lockmark

status=0
# The gravest counts: a regression, then what could not be measured, then what was inconclusive.
remember() {
  local gravity=(0 3 2 1)
  if [ "${gravity[$1]:-2}" -gt "${gravity[$status]}" ]; then status=$1; fi
}

# gate NAME ARGUMENTS...: one comparison of both lockmarks.
gate() {
  local name=$1 ended=0
  shift
  "$lockmark" gate "$@" --baseline "with=$baseline/build/release/bin/lockmark" \
    --format md --out "$out" --junit "$out/$name.xml" --history "$out/history.jsonl" \
    >>"$summary" || ended=$?
  if [ "$ended" = 2 ]; then printf '### %s could not be measured\n\n' "$name" >>"$summary"; fi
  remember "$ended"
}

# Two clients in turns, each for 2 ms: restless machines hardly show in this.
gate timings contended "$depth" --on local:redis --set lock=redis/redisson_fair \
  --set load.instances=2 --set load.clients=1 --set load.think=0s --set hold=2ms

# Commands do not depend on the machine: one pair of short runs for each lock.
locks='redis/lua zookeeper/sequential mysql/for_update'
if [ "$depth" = --full ]; then
  locks=$("$lockmark" list --format json | grep -o '"lock": *"[a-z]*/[^"]*"' | cut -d'"' -f4 |
    grep -E '^(redis|zookeeper|mysql)/')
fi
for lock in $locks; do
  form=${lock%%/*}
  case "$lock" in redis/redlock | redis/redisson_red | redis/sharded) form=redis-independent ;; esac
  gate "counts-${lock//\//-}" uncontended --on "local:$form" --set "lock=$lock" \
    --metrics "$counts" --block 1s --quiet
done

git worktree remove --force "$baseline"
cat "$summary"
exit "$status"
