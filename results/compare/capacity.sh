#!/bin/bash
# How much one lock bears, and what to deploy for it: `lockmark capacity hot_lock` on
# redis/redisson, zookeeper/sequential and mysql/for_update, each on a server that is started for
# it, and then five later runs at each confirmed rate, which must hold the objective. Close to the
# edge a minute is too short to tell: its p99 rests on some fifty late attempts, which come in
# crowds. So they last five. About an hour a lock.
#
# results/compare/capacity.sh OUT: OUT/redisson/capacity.md and so on, with their run folders; a
# study that is whole is not made again, only its later runs.
# PROBE (25s), SLO (p99<50ms), WANT (1000/s), LATER (5), LATER_FOR (300s) and REPEAT (3, of each
# cell of the sweep) may be set; LOCKS to some of the three.
. "$(dirname "$0")/common.sh"
[ $# = 1 ] || die "say where to put the reports: capacity.sh OUT"
out=$1
probe=${PROBE:-25s} slo=${SLO:-p99<50ms} want=${WANT:-1000/s} later=${LATER:-5}
later_for=${LATER_FOR:-300s}
limit_ms=${slo#*<}
limit_ms=${limit_ms%ms}
q=0.${slo%%<*}
q=${q/p/}
case $slo in p[0-9][0-9]\<*ms) ;; *) die "SLO: give one like p99<50ms" ;; esac

study() { # NAME TOPOLOGY LOCK
  local name=$1 target
  target=$(up "$2")
  [ -e "$out/$name/whole" ] || measure "$name" "$target" "$3"
  check "$name" "$target" "$3"
  "$bin/lockmark" down >/dev/null
}

measure() { # NAME TARGET LOCK
  local status=0
  "$bin/lockmark" capacity hot_lock --on "$2" --set "lock=$3" --slo "$slo" --want "$want" \
    --probe "$probe" --clients 1,2,4,8,16,32,48,64 --keys one --keys own --repeat "${REPEAT:-3}" \
    --out "$out/$1" >/dev/null || status=$?
  [ "$status" = 0 ] || [ "$status" = 3 ] || die "lockmark capacity on $3 ended with status $status"
  touch "$out/$1/whole"
}

# The confirmed rate, again and again: its quantile against the objective.
check() { # NAME TARGET LOCK
  local rate held=0 i value
  rate=$(awk '/"highest_rate_per_s"/ { inside = 1 }
    inside && /"value"/ { gsub(/[^0-9.e+-]/, "", $2); print $2; exit }' "$out/$1/capacity.json")
  for ((i = 1; i <= later; ++i)); do
    "$bin/lockmark" run hot_lock --on "$2" --set "lock=$3" --set "load.rate=$(calc 3 "$rate")/s" \
      --set "seed=$((1000 + i))" --set "stop.duration=$later_for" --set "stop.at_most=$later_for" \
      --out "$out/$1/later" --quiet >/dev/null || [ $? = 3 ] || die "a later run of $3 failed"
    run_json=$(ls -t "$out/$1/later"/*/run.json | head -1)
    value=$(awk -v q="\"q\": $q," '/"response"/ { inside = 1 }
      inside && index($0, q) { hit = 1 }
      hit && /"value_ns"/ { gsub(/[",]/, ""); print $2 == ">" ? 1e18 : $2; exit }' "$run_json")
    [ "$(awk "BEGIN { print ($value < $limit_ms * 1e6) }")" = 1 ] && held=$((held + 1))
  done
  echo "| $3 | $(calc 1 "$rate")/s | $held of $later of $later_for |"
}

environment
echo "| lock | highest rate with $slo | later runs that held it |"
echo '|---|---|---|'
for row in "redisson redis redis/redisson" "sequential zookeeper zookeeper/sequential" \
  "for_update mysql mysql/for_update"; do
  # shellcheck disable=SC2086
  set -- $row
  case " ${LOCKS:-$3} " in *" $3 "*) study "$@" ;; esac
done
