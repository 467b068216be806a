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
launch="$bin/lockmark agent --keep $work/parts & $bin/lockmark agent --keep $work/parts; wait"

# figures PREFIX JOB [ARGUMENT]...: of one run: its rate, CPU per cycle in us, and p50 with its bounds.
figures() {
  local prefix=$1
  shift
  run "$@" --set "stop.duration=${seconds}s"
  [ "$(value violations)" = 0 ] || die "the run found a violation"
  printf -v "${prefix}_rate" %s "$(value tps)"
  printf -v "${prefix}_cpu" %s "$(calc 4 "$(value cpu_cores_used) * 1e6 / $(value tps)")"
}

# compare JOB [--set KEY=VALUE]...
compare() {
  local i
  : >"$work/pairs"
  echo '| pair | participants cycles/s | agents cycles/s | ratio | participants CPU us/cycle | agents CPU us/cycle | ratio |'
  echo '|---|---|---|---|---|---|---|'
  for ((i = 1; i <= pairs; ++i)); do
    figures p "$1" "$target" "${@:2}"
    figures a "$1" "$target" "${@:2}" --agents 2 --launch "$launch"
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

echo '# Two agents and two participants'
echo
environment "$(redis-server --version | cut -d' ' -f1-3)"
echo "\`lockmark run results/compare/agents.yaml\`, ${seconds} s each, without and with \`--agents 2\`"
echo
compare agents.yaml
