#!/bin/bash
# Two agents and two participants: cycles per second and CPU per cycle, in turns on one Redis that
# is started for it; and whether what they measure agrees. About 4 minutes; prints Markdown. PAIRS
# and SECONDS_EACH may be set.
#
# Both sides are two processes with one worker thread each, on this machine. Agents send all that
# they measure to their coordinator through TLS; participants leave it in memory that they share.
# CPU is that of all processes of lockmark within the window: of the coordinator and the agents, too.
. "$(dirname "$0")/common.sh"
need redis-server redis-server
pairs=${PAIRS:-9}
seconds=${SECONDS_EACH:-5}
target=$(up redis)
launch="$bin/lockmark agent --keep $work/parts & $bin/lockmark agent --keep $work/parts & wait"

# measure [ARGUMENT]...: one run.
measure() {
  run agents.yaml "$target" "$@" --set "stop.duration=${seconds}s"
  [ "$(value violations)" = 0 ] || die "the run found a violation"
}

# figures PREFIX [ARGUMENT]...: of one run, its rate and its CPU per cycle in us.
figures() {
  measure "${@:2}"
  printf -v "$1_rate" %s "$(value tps)"
  printf -v "$1_cpu" %s "$(calc 4 "$(value cpu_cores_used) * 1e6 / $(value tps)")"
}

compare() {
  local i
  : >"$work/pairs"
  echo '| pair | participants cycles/s | agents cycles/s | ratio | participants CPU us/cycle | agents CPU us/cycle | ratio |'
  echo '|---|---|---|---|---|---|---|'
  for ((i = 1; i <= pairs; ++i)); do
    figures p
    figures a --agents 2 --launch "$launch"
    echo "$p_rate $a_rate $p_cpu $a_cpu" >>"$work/pairs"
    printf '| %d | %.0f | %.0f | %.3f | %.2f | %.2f | %.3f |\n' "$i" "$p_rate" "$a_rate" \
      "$(calc 4 "$a_rate / $p_rate")" "$p_cpu" "$a_cpu" "$(calc 4 "$a_cpu / $p_cpu")"
  done
  echo
  ratio_head
  column '$2 / $1' | ratio_row 'cycles/s' '>=' 0.95
  column '$4 / $3' | ratio_row 'CPU per cycle' '<=' 1.05
  echo
}
column() { awk "{ print $1 }" "$work/pairs"; }

# interval QUANTILE: its "low high" in ms, of the response.
interval() {
  awk -F'[:,]' -v wanted="$1" '
    $1 ~ /"q"/ { q = $2 + 0 }
    q == wanted && $1 ~ /"low_ns"/ { low = $2 / 1e6 }
    q == wanted && $1 ~ /"high_ns"/ { printf "%.2f %.2f", low, $2 / 1e6; exit }' "$run_json"
}

# One job on three participants and on three agents: whether what they measure
# agrees, by the intervals that each run states.
agreement() {
  local i q p_low p_high a_low a_high
  local same=(--set lock=redis/redisson_fair --set keys=one --set hold=5ms
    --set 'load.think=exponential(20ms)' --set load.instances=3 --set load.clients=2
    --set participants=3)
  echo '| pair | quantile | participants, ms | agents, ms | the intervals overlap |'
  echo '|---|---|---|---|---|'
  for ((i = 1; i <= 3; ++i)); do
    measure "${same[@]}"
    for q in 0.5 0.9 0.99; do interval $q >"$work/p-$q"; done
    measure "${same[@]}" --agents 3 --launch "$bin/lockmark agent --keep $work/parts & $launch"
    for q in 0.5 0.9 0.99; do
      read -r p_low p_high < <(cat "$work/p-$q"; echo)
      read -r a_low a_high < <(interval $q; echo)
      printf '| %d | %s | %s to %s | %s to %s | %s |\n' "$i" "$q" "$p_low" "$p_high" "$a_low" \
        "$a_high" "$(awk "BEGIN { print ($p_low <= $a_high && $a_low <= $p_high) ? \"yes\" : \"**no**\" }")"
    done
  done
}

echo '# Two agents and two participants'
echo
environment "$(redis-server --version | cut -d' ' -f1-3)"
echo "\`lockmark run results/compare/agents.yaml\`, ${seconds} s each, without and with \`--agents 2\`"
echo
compare
echo '## The same job, measured by three participants and by three agents'
echo
echo 'Six clients want one key, which each holds for 5 ms, 20 ms after the last time, by `redis/redisson_fair`. The response, with the 95 % interval of each run:'
echo
agreement
