#!/bin/bash
# Whether correct locks hold where nothing goes wrong: the shipped job `soak` on each, until its
# keys have changed owners a million times (Redis) or a hundred thousand times (ZooKeeper, MySQL),
# while a register that each holder reads first and writes last looks for what was lost. An hour or
# more; prints Markdown, and exits 1 if a lock failed. CHANGES (instead of both) and LOCKS (names,
# without their backend) may be set.
. "$(dirname "$0")/common.sh"
failed=0

# soak TOPOLOGY CHANGES LOCK...
soak() {
  local topology=$1 changes=${CHANGES:-$2} target status lock patient
  shift 2
  target=$(up "$topology")
  for lock in "$@"; do
    if [ -n "${LOCKS:-}" ] && [[ " $LOCKS " != *" ${lock#*/} "* ]]; then continue; fi
    # By default it gives a server 50 ms. On a busy machine each answer would come too late, and
    # each would cost a connection.
    patient=()
    if [ "$lock" = redis/redlock ]; then patient=(--set options.node_timeout=2000ms); fi
    rm -rf "$work/runs"
    status=0
    "$bin/lockmark" run soak --on "$target" --set "lock=$lock" \
      --set "stop.owner_changes=$changes" "${patient[@]}" --out "$work/runs" --quiet >"$work/said" 2>&1 || status=$?
    case $status in
      0 | 3) ;;
      1) failed=1 ;;
      *) cat "$work/said" >&2 && die "lockmark run soak on $lock ended with exit status $status" ;;
    esac
    run_json=$(echo "$work"/runs/*/run.json)
    printf '| %s | %s | %s | %s | %s | %s | 1 in %.0f | %.0f |\n' "$lock" "$topology" \
      "$(value_in exposure owner_changes)" "$(value_in exposure chances)" "$(value_in safety certain_violations)" \
      "$(value_in guard lost_updates)" "$(calc 6 "1 / $(value_in exposure violation_share_below_95)")" \
      "$(value window_s)"
  done
  "$bin/lockmark" down >/dev/null
}

echo '# Correct locks, left alone'
echo
environment
echo '| lock | servers | owner changes | chances | violations | lost updates | fewer violations than (95 %) | s |'
echo '|---|---|---:|---:|---:|---:|---:|---:|'
soak redis 1000000 redis/set_nx_px redis/lua redis/redisson redis/redisson_spin \
  redis/redisson_fair redis/redisson_write redis/redisson_fenced redis/redisson_multi
soak redis-independent 1000000 redis/redlock redis/redisson_red redis/sharded
soak zookeeper 100000 zookeeper/ephemeral zookeeper/sequential zookeeper/semaphore_mutex \
  zookeeper/write zookeeper/multi
soak mysql 100000 mysql/for_update mysql/unique_key mysql/unique_key_reentrant mysql/get_lock \
  mysql/shedlock
exit "$failed"
