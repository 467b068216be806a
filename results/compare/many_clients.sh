#!/bin/bash
# Many clients in one process: 10,000 closed-loop clients on the memory lock and 2,000 on Redis, with
# think times that leave the machine unsaturated. Memory at its highest and the timers' lag. About
# half a minute; prints Markdown.
. "$(dirname "$0")/common.sh"
need redis-server redis-server
ulimit -n 8192 2>/dev/null || die "2,000 connections need ulimit -n of more than $(ulimit -Hn)"

# measure NAME TARGET [SETTING...]: a row of the table.
measure() {
  local name=$1 target=$2 status=0 pid high=0 now lag_us mb
  shift 2
  rm -rf "$work/runs"
  timeout 60 "$bin/lockmark" run "$here/many_clients.yaml" --on "$target" --out "$work/runs" \
    --quiet "${@/#/--set=}" >"$work/said" 2>&1 &
  pid=$!
  # timeout's child is lockmark. VmHWM is its highest resident size so far.
  while kill -0 $pid 2>/dev/null; do
    now=$(awk '/^VmHWM/ { print $2 }' /proc/"$(cat /proc/$pid/task/$pid/children 2>/dev/null | cut -d' ' -f1)"/status 2>/dev/null) || true
    [ "${now:-0}" -gt "$high" ] && high=$now
    sleep 0.1
  done
  wait $pid || status=$?
  run_json=$(echo "$work"/runs/*/run.json)
  if [ "$status" = 1 ] || [ "$status" = 2 ]; then cat "$work/said" >&2; fi
  mb=$(calc 0 "$high / 1024")
  lag_us=$(calc 1 "$(value_in timer_lag p50_ns) / 1000")
  printf '| %s | %s | %.0f | %.4f | %s | %s | %s | %.2f | %s | %s |\n' "$name" "$status" "$(value tps)" \
    "$(value success_rate)" "$mb" "$(verdict "$mb" '<' 600)" "$lag_us" "$(value cpu_cores_used)" \
    "$(verdict "$lag_us" '<' 150)" "$(value violations)"
}

echo '# Many clients in one process'
echo
environment "$(redis-server --version | cut -d' ' -f1-3)"
target=$(up redis)
echo '| clients | exit status | cycles/s | success rate | MB resident at most | under 600 | p50 timer lag, us | CPU, cores | lag under 150 us | violations |'
echo '|---|---|---|---|---|---|---|---|---|---|'
measure '10,000 on memory' memory:
measure '2,000 on Redis' "$target" lock=redis/lua load.clients=20
