#!/bin/bash
# What exporting costs: cycles per second of the memory lock on one thread with `--metrics`, scraped
# every second, over the same without. In turns, and whichever comes first changes from pair to pair.
# About 4 minutes; prints Markdown. PAIRS and SECONDS_EACH may be set.
. "$(dirname "$0")/common.sh"
pairs=${PAIRS:-20}
seconds=${SECONDS_EACH:-4}
length=(--set "stop.duration=${seconds}s" --set "stop.at_most=${seconds}s")

# scrape_each_second: of the run that writes $work/said, until it has ended; what it got in all.
scrape_each_second() {
  local port='' bytes
  while [ -z "$port" ]; do
    sleep 0.05
    port=$(sed -n 's|.*metrics at http://127.0.0.1:\([0-9]*\)/.*|\1|p' "$work/said")
  done
  while exec 3<>"/dev/tcp/127.0.0.1/$port"; do
    printf 'GET /metrics HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' >&3
    bytes=$(wc -c <&3)
    exec 3<&- 3>&-
    echo "$bytes" >>"$work/scrapes"
    sleep 1
  done 2>/dev/null
}

# measure with|without: leaves cycles/s in $tps and the process's CPU per cycle, in ns, in $cpu.
measure() {
  local scraper='' options=()
  : >"$work/said"
  if [ "$1" = with ]; then
    options=(--metrics 127.0.0.1:0 --metrics-linger 0s)
    scrape_each_second &
    scraper=$!
  fi
  run metrics.yaml memory: "${length[@]}" "${options[@]}"
  if [ -n "$scraper" ]; then wait "$scraper" || true; fi
  [ "$(value violations)" = 0 ] || die "the run found a violation"
  tps=$(value tps)
  cpu=$(calc 2 "$(value cpu_cores_used) * 1e9 / $tps")
}

echo '# What exporting costs'
echo
environment
echo "\`lockmark run results/compare/metrics.yaml --on memory:\`, $seconds s each, with and without"
echo '`--metrics 127.0.0.1:0` scraped every second.'
echo
echo '| pair | without, cycles/s | with, cycles/s | with / without | CPU per cycle without, ns | with, ns |'
echo '|---|---|---|---|---|---|'
for ((i = 1; i <= pairs; ++i)); do
  order='without with'
  if ((i % 2 == 0)); then order='with without'; fi
  declare -A rate=() cost=()
  for which in $order; do
    measure "$which"
    rate[$which]=$tps cost[$which]=$cpu
  done
  ratio=$(calc 4 "${rate[with]} / ${rate[without]}")
  echo "$ratio" >>"$work/ratios"
  calc 4 "${cost[with]} / ${cost[without]}" >>"$work/costs"
  echo >>"$work/costs"
  echo "${rate[without]}" >>"$work/rates"
  printf '| %d | %.0f | %.0f | %s | %s | %s |\n' "$i" "${rate[without]}" "${rate[with]}" "$ratio" \
    "${cost[without]}" "${cost[with]}"
done
echo
ratio_head | sed 's|lockmark / the other|with / without|'
ratio_row 'cycles/s' '>=' 0.99 <"$work/ratios"
ratio_row 'CPU per cycle' '<=' 1.01 <"$work/costs"
echo
read -r mid min q1 q3 max < <(spread <"$work/rates")
printf 'Noise: without being watched, %.0f cycles/s at most and %.0f at least, quartiles %.0f to %.0f.\n' \
  "$max" "$min" "$q1" "$q3"
printf '%d scrapes, the last one of %d bytes.\n' "$(wc -l <"$work/scrapes")" "$(tail -n 1 "$work/scrapes")"
