#!/bin/bash
# etcd: acquire/release cycles per second and client CPU per cycle of lockmark and of the Go client's
# concurrency.Mutex, in turns on one server that is started for it. 10 clients with a lease each and
# one connection, first all for one key, then each for its own. About 13 minutes; prints Markdown.
# PAIRS, SECONDS_ONE and SECONDS_OWN may be set. The first time, Go's package manager fetches the
# client.
#
# Both sides count the CPU of their process over the measured window only, so that neither pays for
# its start. lockmark's has watchmen as well, which wake however slow the lock is: the hiccup meter
# 200 to 1,000 times a second (least in windows of 50 s and more), heartbeat and sampling 300 times. So
# the CPU of the thread that runs the clients is shown, too.
. "$(dirname "$0")/common.sh"
need go golang-go
pairs=${PAIRS:-5}
seconds_one=${SECONDS_ONE:-50}
seconds_own=${SECONDS_OWN:-10}
clients=10
(cd "$here/etcd_bench" && go build -buildvcs=false -o "$work/etcd_bench" .) || die 'go build failed'

target=$(up etcd)

# One process for all of its turns; in lockmark's turns it only keeps its sessions.
coproc go_side { exec "$work/etcd_bench" "${target#etcd://}" $clients; }
trap 'kill "$go_side_PID" 2>/dev/null || true; clean_up' EXIT

# go_run one|own SECONDS: sets $go_rate, $go_cpu (us per cycle).
go_run() {
  echo "$1 1 $2" >&"${go_side[1]}"
  read -r -t 120 go_rate go_cpu <&"${go_side[0]}" || die "etcd's Go client failed"
}

# lockmark_run one|own SECONDS [--set OPTION=VALUE]...: sets $lm_rate, $lm_cpu, and $lm_thread (the
# same of the one worker thread).
lockmark_run() {
  local keys=$1 seconds=$2
  shift 2
  run etcd.yaml "$target" --set "keys=$keys" --set "stop.duration=${seconds}s" "$@"
  [ "$(value violations)" = 0 ] || die "the run found a violation"
  lm_rate=$(value tps)
  lm_cpu=$(calc 4 "$(value cpu_cores_used) * 1e6 / $lm_rate")
  lm_thread=$(calc 4 "$(value busiest_worker_share) * 1e6 / $lm_rate")
}

# compare one|own SECONDS [--set OPTION=VALUE]...
compare() {
  local keys=$1 seconds=$2
  : >"$work/pairs"
  go_run "$keys" 5 # not counted: both connect
  echo '| pair | Go cycles/s | lockmark cycles/s | ratio | Go CPU us/cycle | lockmark CPU us/cycle | ratio | its worker thread |'
  echo '|---|---|---|---|---|---|---|---|'
  for ((i = 1; i <= pairs; ++i)); do
    go_run "$keys" "$seconds"
    lockmark_run "$@"
    echo "$go_rate $lm_rate $go_cpu $lm_cpu $lm_thread" >>"$work/pairs"
    printf '| %d | %.0f | %.0f | %.3f | %.1f | %.1f | %.3f | %.1f |\n' "$i" "$go_rate" "$lm_rate" \
      "$(calc 4 "$lm_rate / $go_rate")" "$go_cpu" "$lm_cpu" "$(calc 4 "$lm_cpu / $go_cpu")" \
      "$lm_thread"
  done
  printf '| median | %.0f | %.0f | %.3f | %.1f | %.1f | %.3f | %.1f |\n\n' \
    "$(column '$1' | median)" "$(column '$2' | median)" "$(column '$2 / $1' | median)" \
    "$(column '$3' | median)" "$(column '$4' | median)" "$(column '$4 / $3' | median)" \
    "$(column '$5' | median)"
  ratio_head
  column '$2 / $1' | ratio_row 'cycles/s' '>=' 1
  column '$4 / $3' | ratio_row 'CPU per cycle, whole process' '<=' 0.5
  column '$5 / $3' | ratio_row 'CPU per cycle, worker thread' '<=' 0.5
}
column() { awk "{ print $1 }" "$work/pairs"; }

echo "# lockmark and the Go client's concurrency.Mutex on one etcd"
echo
environment "etcd $(dpkg-query -W -f '${Version}' etcd-server 2>/dev/null || echo 'of unknown version'), $(awk '/^require go.etcd/ { print $2, $3 }' "$here/etcd_bench/go.mod")" \
  "$(go version)" \
  "the server's data on $(df --output=fstype "${TMPDIR:-/tmp}" | tail -1)"
echo "lockmark: \`lockmark run results/compare/etcd.yaml --set keys=one|own\` (10 leases, one connection, one worker thread), ${seconds_one} s for the first table, ${seconds_own} s for the others, after 1 s"
echo "Go: \`results/compare/etcd_bench\` (10 goroutines, 10 sessions, one client), the same"
echo
echo '## One key'
echo
compare one "$seconds_one"
echo
echo '## One key, waiters that watch from the next revision'
echo
compare one "$seconds_own" --set options.watch_from=next
echo
echo '## Own keys'
echo
compare own "$seconds_own"
