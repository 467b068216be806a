#!/bin/bash
# PostgreSQL: lock cycles per second and client CPU per cycle of lockmark and of pgbench, which
# sends the same prepared statements, in turns on one server that is started for it. About 12
# minutes; prints Markdown. PAIRS and SECONDS_EACH may be set; with CORES=apart, clients and server
# have a core each, since how much CPU a wake-up costs depends on where the other side runs.
#
# lockmark does its whole job (stamps, histograms, events, the exclusion check, its watchmen), and
# all threads of its process count. Neither side pays for its start: lockmark's CPU is that of the
# measured window, from pgbench's the CPU of a run with one transaction each is taken off.
. "$(dirname "$0")/common.sh"
pgbench=$(command -v pgbench || true)
for each in /usr/lib/postgresql/*/bin/pgbench; do
  if [ -x "$each" ]; then pgbench=$each; fi
done
[ -n "$pgbench" ] || die "pgbench is needed: apt install postgresql"
pairs=${PAIRS:-17}
seconds=${SECONDS_EACH:-20}
placed='by the scheduler'
server_core=()
if [ "${CORES:-}" = apart ]; then
  placed='on a core each'
  on_cores=(taskset -c 0)
  server_core=(taskset -c 1)
fi

target=$("${server_core[@]}" "$bin/lockmark" up postgres | awk 'NR == 1 { print $2 }')
cat >"$work/cycle.sql" <<'END'
SELECT pg_advisory_lock(:client_id);
SELECT pg_advisory_unlock(:client_id);
END

# pgbench_of ARGUMENT...: sets $pb_used (CPU in s) and $pb_cycles; what it says is in $work/pb.
pgbench_of() {
  local took_pb user system
  took_pb=$({ time timeout 120 "${on_cores[@]}" "$pgbench" -n -M prepared -c 10 -j 1 "$@" \
    -f "$work/cycle.sql" "$target" >"$work/pb" 2>&1; } 2>&1)
  pb_cycles=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$work/pb")
  read -r _ user system <<<"$took_pb"
  pb_used=$(calc 4 "$user + $system")
}

# pgbench_run: sets $pb_rate, $pb_cpu (us per cycle).
pgbench_run() {
  pgbench_of -T "$seconds"
  pb_rate=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$work/pb" | tail -n 1)
  pb_cpu=$(calc 4 "($pb_used - $start) * 1e6 / $pb_cycles")
}

# lockmark_run: sets $lm_rate, $lm_cpu.
lockmark_run() {
  run postgres.yaml "$target" --set "stop.duration=${seconds}s"
  [ "$(value violations)" = 0 ] || die "the run found a violation"
  lm_rate=$(value tps)
  lm_cpu=$(calc 4 "$(value cpu_cores_used) * 1e6 / $lm_rate")
}

echo '# lockmark and pgbench on one PostgreSQL'
echo
environment "$("$pgbench" --version)" "clients and server placed $placed"
pgbench_of -t 1
start=$pb_used
pgbench_run # warms both up
lockmark_run

echo "lockmark: \`lockmark run results/compare/postgres.yaml\` (10 connections, one worker thread), ${seconds} s after 1 s"
echo "pgbench: \`pgbench -n -M prepared -c 10 -j 1 -T $seconds -f cycle.sql\` (its start: ${start} s of CPU) with"
echo
sed 's/^/    /' "$work/cycle.sql"
echo
echo '| pair | pgbench cycles/s | lockmark cycles/s | ratio | pgbench CPU us/cycle | lockmark CPU us/cycle | ratio |'
echo '|---|---|---|---|---|---|---|'
for ((i = 1; i <= pairs; ++i)); do
  pgbench_run
  lockmark_run
  echo "$pb_rate $lm_rate $pb_cpu $lm_cpu" >>"$work/pairs"
  printf '| %d | %.0f | %.0f | %.3f | %.3f | %.3f | %.3f |\n' "$i" "$pb_rate" "$lm_rate" \
    "$(calc 4 "$lm_rate / $pb_rate")" "$pb_cpu" "$lm_cpu" "$(calc 4 "$lm_cpu / $pb_cpu")"
done
column() { awk "{ print $1 }" "$work/pairs"; }
printf '| median | %.0f | %.0f | %.3f | %.3f | %.3f | %.3f |\n\n' \
  "$(column '$1' | median)" "$(column '$2' | median)" "$(column '$2 / $1' | median)" \
  "$(column '$3' | median)" "$(column '$4' | median)" "$(column '$4 / $3' | median)"
ratio_head
column '$2 / $1' | ratio_row 'cycles/s' '>=' 0.95
column '$4 / $3' | ratio_row 'client CPU per cycle' '<=' 1.1
