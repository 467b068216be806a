#!/bin/bash
# The harness without a server: complete, recorded and checked cycles per second of the memory lock
# on one thread, and what its parts cost by Google Benchmark. About 1 minute; prints Markdown. RUNS
# may be set.
. "$(dirname "$0")/common.sh"
runs=${RUNS:-9}

echo '# The memory lock on one thread'
echo
environment
echo '`lockmark run results/compare/memory.yaml --on memory:`'
echo
echo '| run | cycles/s | CPU of the process, cores | CPU of the worker, cores |'
echo '|---|---|---|---|'
for ((i = 1; i <= runs; ++i)); do
  run memory.yaml memory:
  [ "$(value violations)" = 0 ] || die "the run found a violation"
  value tps >>"$work/tps"
  printf '| %d | %.0f | %.2f | %.2f |\n' "$i" "$(value tps)" "$(value cpu_cores_used)" "$(value busiest_worker_share)"
done
read -r mid min q1 q3 max < <(spread <"$work/tps")
printf '\n| | median | min | quartiles | max | needed | met |\n|---|---|---|---|---|---|---|\n'
printf '| cycles/s | %.0f | %.0f | %.0f to %.0f | %.0f | >= 2000000 | %s |\n\n' \
  "$mid" "$min" "$q1" "$q3" "$max" "$(verdict "$mid" '>=' 2000000)"

echo '## What runs for each operation'
echo
echo 'Medians of 5 repetitions of each Google Benchmark program, in ns of CPU.'
echo
echo '| program | benchmark | ns |'
echo '|---|---|---|'
# Not the benchmark of whole cycles: it is what was measured above.
for program in "$bin"/*_bench; do
  timeout 60 "$program" --benchmark_filter=-cycle/ --benchmark_repetitions=5 \
    --benchmark_min_time=0.02 --benchmark_report_aggregates_only=true --benchmark_format=csv \
    2>/dev/null >"$work/bench.csv" || echo "| ${program##*/} | ended with an error | |"
  awk -F, -v p="${program##*/}" '/_median"/ {
    ns = $4 * ($5 == "us" ? 1e3 : $5 == "ms" ? 1e6 : 1)
    name = $1; gsub(/"|_median/, "", name); printf "| %s | %s | %.1f |\n", p, name, ns }' "$work/bench.csv"
done
echo
echo 'One record has to cost under 100 ns.'
