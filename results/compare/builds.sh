#!/bin/bash
# Two builds of lockmark in turns: what redis.sh and memory.sh measure of one. Commands per second
# and CPU per command on one Redis, and cycles per second of the memory lock. About 5 minutes;
# prints Markdown. OTHER_BIN is the folder of the other build; PAIRS may be set, and LASTS, how long
# each run is: on a machine whose speed changes from second to second, many short runs say more.
. "$(dirname "$0")/common.sh"
need redis-server redis-server
pairs=${PAIRS:-9}
length=()
if [ -n "${LASTS:-}" ]; then length=(--set "stop.duration=$LASTS"); fi
other=${OTHER_BIN:?the folder of the build to compare with, such as ../other/build/release/bin}
[ -x "$other/lockmark" ] || die "$other/lockmark is missing"
mine=$bin
target=$(up redis)

# measure BIN: sets $rate, $cpu (us per command) and $cycles.
measure() {
  local each grants user system
  bin=$1
  run redis.yaml "$target" "${length[@]}"
  each=$(value client_commands_per_grant)
  grants=$(value_in cost_per_acquire grants)
  read -r _ user system <<<"$took"
  rate=$(calc 1 "$(value tps) * $each")
  cpu=$(calc 4 "($user + $system) * 1e6 / ($grants * $each)")
  run memory.yaml memory: "${length[@]}"
  cycles=$(value tps)
}

echo '# Two builds of lockmark'
echo
environment "other: $("$other/lockmark" --version), $other" "this: $("$mine/lockmark" --version)"
echo '| pair | other, commands/s | this | ratio | other, CPU us/command | this | ratio | other, memory cycles/s | this | ratio |'
echo '|---|---|---|---|---|---|---|---|---|---|'
measure "$other" # warms the server up
for ((i = 1; i <= pairs; ++i)); do
  # Each is the first of every other pair.
  if ((i % 2)); then order=("$other" "$mine"); else order=("$mine" "$other"); fi
  for build in "${order[@]}"; do
    measure "$build"
    if [ "$build" = "$other" ]; then before=("$rate" "$cpu" "$cycles"); else after=("$rate" "$cpu" "$cycles"); fi
  done
  line="| $i |"
  for n in 0 1 2; do
    ratio=$(calc 4 "${after[n]} / ${before[n]}")
    echo "$ratio" >>"$work/ratio$n"
    line+=" ${before[n]} | ${after[n]} | $ratio |"
  done
  echo "$line"
done
bin=$mine
echo
ratio_head
ratio_row 'commands per second on Redis' '>=' 0.98 <"$work/ratio0"
ratio_row 'CPU per command' '<=' 1.02 <"$work/ratio1"
ratio_row 'cycles per second on memory' '>=' 0.98 <"$work/ratio2"
