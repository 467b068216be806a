#!/bin/bash
# The gate on one real Redis that is started for it: how often a server passes against itself, how
# often a delay of a fifth of its median is found, and whether one more command is. Prints Markdown.
#
# Four hours at most. SAME (20), DELAYED (10) and COUNTED (3) are how often each is tried, 0 leaves
# one out; DEPTH is --full or --quick.
#
# The load is two clients in turns, each for 2 ms. For the delay both sides go through a proxy of
# lockmark's, of which the candidate's delays every byte. An acquire there waits for three round
# trips (the other's release and its message, and both scripts), so that a delay of so much a way
# shows six times; how much a way is a fifth in all is measured first, in short sessions.
. "$(dirname "$0")/common.sh"
need redis-server redis-server
same=${SAME:-20}
delayed=${DELAYED:-10}
counted=${COUNTED:-3}
depth=${DEPTH:---full}

target=$(up redis)
load=(contended --on "$target" --set lock=redis/redisson_fair --set load.instances=2
  --set load.clients=1 --set load.think=0s --set hold=2ms)

# gate SEED ARGUMENTS...: sets $verdict, $pairs and $change (of the acquire's median, in percent).
gate() {
  local seed=$1 status=0
  shift
  rm -rf "$work/gate"
  "$bin/lockmark" gate "$@" "$depth" --seed "$seed" --out "$work/gate" --quiet \
    >"$work/said" 2>&1 || status=$?
  case "$status" in
    0) verdict=PASS ;;
    1) verdict=REGRESSION ;;
    3) verdict=INCONCLUSIVE ;;
    *) cat "$work/said" >&2; die "lockmark gate ended with exit status $status" ;;
  esac
  local session
  session=$(echo "$work"/gate/*/gate.json)
  pairs=$(awk -F'[:,]' '/^  "pairs"/ { gsub(/ /, "", $2); print $2; exit }' "$session")
  change=$(awk -F'[:,]' '/^  "metrics"/ { inside = 1 } inside && /"worsening"/ { printf "%.1f", 100 * $2; exit }' "$session")
  reasons=$(sed -n 's/^  - //p' "$work/said" | paste -sd';' | sed 's/;/; /g')
}

# series NAME TIMES WANTED ALLOWED ARGUMENTS...: WANTED so often at least, and nothing but that and
# what is ALLOWED.
series() {
  local name=$1 times=$2 wanted=$3 least=$4 allowed=$5 found=0 other=0 i
  shift 5
  [ "$times" = 0 ] && return
  echo "## $name"
  echo
  echo '| seed | verdict | pairs | change of the median | why |'
  echo '|---|---|---|---|---|'
  for ((i = 1; i <= times; ++i)); do
    gate "$i" "$@"
    [ "$verdict" = "$wanted" ] && found=$((found + 1))
    [ "$verdict" != "$wanted" ] && [ "$verdict" != "$allowed" ] && other=$((other + 1))
    echo "| $i | $verdict | $pairs | $change % | $reasons |"
  done
  local met=no
  [ $((found * 10)) -ge $((times * least)) ] && [ "$other" = 0 ] && met=yes
  printf '\n%s: %d of %d (needed: %d in 10, else %s), met: %s\n\n' \
    "$wanted" "$found" "$times" "$least" "$allowed" "$met"
}

delay() { # AT BY
  echo "faults.1.do=delay faults.1.who=servers faults.1.by=$2 faults.1.at=$1 faults.1.for=10m"
}

echo '# The gate on one Redis'
echo
environment "$(redis-server --version | cut -d' ' -f1-3)"
echo "\`lockmark gate ${load[*]//$target/TARGET} $depth\`"
echo

series 'A server against itself' "$same" PASS 10 PASS "${load[@]}" --baseline "on=$target"

delayed_series() {
  # What two delays do, and the delay between or beside them that does 20 %: each piece of what is
  # sent is late by a little more than it was told to be, so half the delay does more than half.
  depth=--quick gate 1 "${load[@]}" --baseline "$(delay 1h 1ms)" --candidate "$(delay 0s 100us)"
  at_100=$change
  depth=--quick gate 1 "${load[@]}" --baseline "$(delay 1h 1ms)" --candidate "$(delay 0s 50us)"
  at_50=$change
  median_ns=$(awk -F'[:,]' '/"baseline": [0-9]/ { gsub(/ /, "", $2); printf "%d", $2; exit }' \
    "$work"/gate/*/gate.json)
  by=$(calc 0 "50 + 50 * (20 - $at_50) / ($at_100 - $at_50)")us
  echo "Through a proxy the median is $((median_ns / 1000)) us; it is $at_50 % more if that delays"
  echo "each way by 50 us, and $at_100 % more by 100 us; so $by are a fifth."
  echo

  series 'A delay of a fifth of the median' "$delayed" REGRESSION 9 INCONCLUSIVE \
    "${load[@]}" --baseline "$(delay 1h "$by")" --candidate "$(delay 0s "$by")"
}
[ "$delayed" = 0 ] || delayed_series

series 'One more command' "$counted" REGRESSION 10 REGRESSION uncontended --on "$target" \
  --set lock=redis/set_nx_px --candidate options.release=compare_then_del
