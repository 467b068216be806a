#!/bin/bash
# ZooKeeper: acquire/release cycles per second and client CPU per cycle of lockmark and of Curator's
# InterProcessMutex, in turns on one server that is started for it. 10 clients with a session each,
# first all for one key, then each for its own. About 4 minutes; prints Markdown. PAIRS and
# SECONDS_EACH may be set.
#
# Both sides count the CPU of their process over the measured window only, so that neither pays for
# its start, and the JVM has compiled before its first turn counts.
. "$(dirname "$0")/common.sh"
need javac default-jdk-headless
jars=/usr/share/java
for jar in curator-recipes slf4j-nop; do
  [ -e $jars/$jar.jar ] || die "$jars/$jar.jar is missing: apt install libcurator-recipes-java libslf4j-java"
done
pairs=${PAIRS:-7}
seconds=${SECONDS_EACH:-5}
clients=10
# The jars' manifests name the rest.
class_path=$jars/curator-recipes.jar:$jars/slf4j-nop.jar
javac -d "$work/classes" -cp "$class_path" "$here/CuratorBench.java" 2>"$work/javac" ||
  { cat "$work/javac" >&2; die 'javac failed'; }

target=$(up zookeeper)
server=${target#zookeeper://}

# One JVM for all of its turns, warm by the first; in lockmark's turns it only keeps its sessions.
coproc java_side { exec java -cp "$work/classes:$class_path" CuratorBench "$server" $clients; }
trap 'kill "$java_side_PID" 2>/dev/null || true; clean_up' EXIT

# curator one|own WARMUP_S: sets $cu_rate, $cu_cpu (us per cycle).
curator() {
  echo "$1 $2 $seconds" >&"${java_side[1]}"
  read -r -t 60 cu_rate cu_cpu <&"${java_side[0]}" || die 'Curator failed'
}

# lockmark_run one|own: sets $lm_rate, $lm_cpu.
lockmark_run() {
  run zookeeper.yaml "$target" --set "keys=$1" --set "stop.duration=${seconds}s"
  [ "$(value violations)" = 0 ] || die "the run found a violation"
  lm_rate=$(value tps)
  lm_cpu=$(calc 4 "$(value cpu_cores_used) * 1e6 / $lm_rate")
}

compare() {
  local keys=$1
  : >"$work/pairs"
  curator "$keys" 8 # not counted: the JVM compiles
  echo '| pair | Curator cycles/s | lockmark cycles/s | ratio | Curator CPU us/cycle | lockmark CPU us/cycle | ratio |'
  echo '|---|---|---|---|---|---|---|'
  for ((i = 1; i <= pairs; ++i)); do
    curator "$keys" 1
    lockmark_run "$keys"
    echo "$cu_rate $lm_rate $cu_cpu $lm_cpu" >>"$work/pairs"
    printf '| %d | %.0f | %.0f | %.3f | %.1f | %.1f | %.3f |\n' "$i" "$cu_rate" "$lm_rate" \
      "$(calc 4 "$lm_rate / $cu_rate")" "$cu_cpu" "$lm_cpu" "$(calc 4 "$lm_cpu / $cu_cpu")"
  done
  printf '| median | %.0f | %.0f | %.3f | %.1f | %.1f | %.3f |\n\n' \
    "$(column '$1' | median)" "$(column '$2' | median)" "$(column '$2 / $1' | median)" \
    "$(column '$3' | median)" "$(column '$4' | median)" "$(column '$4 / $3' | median)"
}
version_of() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo 'of unknown version'; }
column() { awk "{ print $1 }" "$work/pairs"; }

echo "# lockmark and Curator's InterProcessMutex on one ZooKeeper"
echo
environment "Curator $(version_of libcurator-recipes-java), ZooKeeper $(version_of libzookeeper-java)" \
  "$(java -version 2>&1 | head -1)" \
  "the server's data on $(df --output=fstype "${TMPDIR:-/tmp}" | tail -1)"
echo "lockmark: \`lockmark run results/compare/zookeeper.yaml --set keys=one|own\` (10 sessions, one worker thread), ${seconds} s after 1 s"
echo "Curator: \`java CuratorBench\` (10 threads, 10 CuratorFramework), ${seconds} s after 1 s in a JVM that has warmed up for $((8 + seconds)) s"
echo
echo '## One key'
echo
compare one
ratio_head
column '$2 / $1' | ratio_row 'cycles/s' '>=' 1.25
column '$4 / $3' | ratio_row 'client CPU per cycle' '<=' 0.6
echo
echo '## Own keys'
echo
compare own
ratio_head
column '$2 / $1' | ratio_row 'cycles/s' '>=' 0.95
column '$4 / $3' | ratio_row 'client CPU per cycle' '<=' 0.6
