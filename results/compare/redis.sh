#!/bin/bash
# Redis: commands per second and client CPU per command of lockmark and of redis-benchmark, in turns
# on one server that is started for it. About 2 minutes; prints Markdown. PAIRS and SECONDS_EACH may
# be set.
#
# lockmark does its whole job (stamps, histograms, events, the exclusion check); its CPU is that of
# the whole process, start and end included, over all commands it sent; redis-benchmark's likewise.
. "$(dirname "$0")/common.sh"
need redis-benchmark redis-tools
need redis-server redis-server
pairs=${PAIRS:-9}
seconds=${SECONDS_EACH:-6}

target=$(up redis)
port=${target##*:}

# redis_benchmark N: sets $rb_rate, $rb_cpu (us per command).
redis_benchmark() {
  local took_rb
  took_rb=$({ time timeout 60 redis-benchmark -p "$port" -c 50 -n "$1" --csv \
    SET k v NX PX 30000 >"$work/rb.csv" 2>/dev/null; } 2>&1)
  rb_rate=$(awk -F'","' 'END { print $2 }' "$work/rb.csv")
  read -r _ user system <<<"$took_rb"
  rb_cpu=$(calc 4 "($user + $system) * 1e6 / $1")
}

# lockmark_run: sets $lm_rate, $lm_cpu.
lockmark_run() {
  run redis.yaml "$target" --set "stop.duration=${seconds}s"
  local each grants user system
  each=$(value client_commands_per_grant)
  grants=$(value_in cost_per_acquire grants)
  [ "$(value violations)" = 0 ] || die "the run found a violation"
  read -r _ user system <<<"$took"
  lm_rate=$(calc 1 "$(value tps) * $each")
  lm_cpu=$(calc 4 "($user + $system) * 1e6 / ($grants * $each)")
}

echo '# lockmark and redis-benchmark on one Redis'
echo
environment "$(redis-benchmark --version)" "$(redis-server --version | cut -d' ' -f1-3)"
redis_benchmark 100000 # warms both up, and tells how many requests make a run
requests=$(calc 0 "$rb_rate * $seconds")
lockmark_run

echo "lockmark: \`lockmark run results/compare/redis.yaml\` (50 connections, one worker thread), ${seconds} s each"
echo "redis-benchmark: \`redis-benchmark -c 50 -n $requests SET k v NX PX 30000\`"
echo
echo '| pair | redis-benchmark commands/s | lockmark commands/s | ratio | redis-benchmark CPU us/command | lockmark CPU us/command | ratio |'
echo '|---|---|---|---|---|---|---|'
for ((i = 1; i <= pairs; ++i)); do
  redis_benchmark "$requests"
  lockmark_run
  echo "$rb_rate $lm_rate $rb_cpu $lm_cpu" >>"$work/pairs"
  printf '| %d | %.0f | %.0f | %.3f | %.3f | %.3f | %.3f |\n' "$i" "$rb_rate" "$lm_rate" \
    "$(calc 4 "$lm_rate / $rb_rate")" "$rb_cpu" "$lm_cpu" "$(calc 4 "$lm_cpu / $rb_cpu")"
done
column() { awk "{ print $1 }" "$work/pairs"; }
printf '| median | %.0f | %.0f | %.3f | %.3f | %.3f | %.3f |\n\n' \
  "$(column '$1' | median)" "$(column '$2' | median)" "$(column '$2 / $1' | median)" \
  "$(column '$3' | median)" "$(column '$4' | median)" "$(column '$4 / $3' | median)"
ratio_head
column '$2 / $1' | ratio_row 'commands/s' '>=' 1.15
column '$4 / $3' | ratio_row 'client CPU per command' '<=' 0.75
