# shellcheck shell=bash
# Builds the fuzzers and runs them, for check. Sourced after shell.sh, in the project's root.
# $fuzz_preset is the build whose fuzzers are meant.
#
#   build/fuzz/seeds/NAME     what NAME starts with, from the repository
#   build/fuzz/corpus/NAME    what it found worth keeping, which the next run goes on from
#   build/fuzz/findings/NAME  inputs that failed
#   build/fuzz/logs/NAME      what it printed last

# newest_clang: prints the name of the newest clang++ on PATH that has libFuzzer, if there is one.
newest_clang() {
  local name
  for name in $(compgen -c clang++ | grep -E '^clang\+\+(-[0-9]+)?$' | sort -u); do
    if ls "$("$name" -print-resource-dir)"/lib/*/libclang_rt.fuzzer[-.]* >/dev/null 2>&1; then
      echo "$("$name" -dumpversion) $name"
    fi
  done | sort -V | tail -1 | cut -d' ' -f2
}

# fuzzer_names: those of the project, once it is configured.
fuzzer_names() {
  ls "build/$fuzz_preset/fuzzers"
}

# configure_with_clang PRESET [OPTION...]: for what only clang can build, or builds faster.
configure_with_clang() {
  configure "$1" "-DCMAKE_CXX_COMPILER=$(newest_clang)" "${@:2}"
}

# build_fuzzers [NAME...]: all, or these.
build_fuzzers() {
  local names=${*:-$(fuzzer_names)}
  # shellcheck disable=SC2086  # names have no spaces
  build "$fuzz_preset" $names
}

# lay_seeds NAME: one file for each line of NAME.seeds, where \r, \n, \x00 and so on stand for
# bytes and \\ for a backslash, and one for each whole file.
lay_seeds() {
  local name=$1 into=build/fuzz/seeds/$1 number=0 source line
  rm -rf "$into"
  mkdir -p "$into"
  while read -r source; do
    case "$source" in
      *.seeds)
        while IFS= read -r line; do
          number=$((number + 1))
          printf '%b' "$line" >"$into/line-$number"
        done <"$source"
        ;;
      *) cp "$source" "$into/" ;;
    esac
  done < <(tail -n +2 "build/$fuzz_preset/fuzzers/$name")
}

# fuzz_one NAME LIMIT...: runs it and prints a line; LIMIT is libFuzzer's.
fuzz_one() {
  local name=$1 work=build/fuzz log=build/fuzz/logs/$1 found longest options
  local program=build/$fuzz_preset/bin/$1
  shift
  lay_seeds "$name"
  mkdir -p "$work/corpus/$name" "$work/findings/$name" "$work/logs"
  longest=$(head -1 "build/$fuzz_preset/fuzzers/$name")
  # Half the time goes into what would only make a report longer; who runs it again gets that.
  options=detect_stack_use_after_return=0:malloc_context_size=1:quarantine_size_mb=8
  options+=:external_symbolizer_path=$(command -v addr2line)
  # A reply, a line or a file may make nobody take much memory or time, whatever it announces.
  if ASAN_OPTIONS=$options \
    "$program" "$@" -max_len="$longest" -timeout=20 -rss_limit_mb=1024 \
    -malloc_limit_mb=64 -print_funcs=0 -print_final_stats=1 \
    -artifact_prefix="$work/findings/$name/" "$work/corpus/$name" "$work/seeds/$name" \
    </dev/null >"$log" 2>&1; then
    touch "$log.passed"
    printf '%s: %s executions, %s a second\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" \
      "$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")"
    return
  fi
  found=$(sed -n 's/.*Test unit written to //p' "$log" | tail -1)
  grep -vE '^(#[0-9]+|INFO|[[:space:]]NEW_FUNC.*)[:[:space:]]' "$log" | tail -60
  echo "$name failed; all it printed: $log"
  if [ -n "$found" ]; then echo "its input is $found; again: $program $found"; fi
}

# run_fuzzers LIMIT [NAME...]: as many at a time as there are cores. LIMIT is executions=N or
# seconds=N for each, or minutes=N for all of them together. In seconds they go the same way each
# time: what is checked again and again says the same of the same code.
run_fuzzers() {
  local kind=${1%=*} amount=${1#*=} name names limit=()
  shift
  # shellcheck disable=SC2207  # names have no spaces
  names=(${*:-$(fuzzer_names)})
  case "$kind" in
    executions) limit=("-runs=$amount") ;;
    seconds) limit=("-max_total_time=$amount" -seed=1) ;;
    minutes)
      amount=$((amount * 60 * $(nproc) / ${#names[@]}))
      limit=("-max_total_time=$((amount > 0 ? amount : 1))")
      ;;
  esac
  for name in "${names[@]}"; do rm -f "build/fuzz/logs/$name.passed"; done
  for name in "${names[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n || true; done
    fuzz_one "$name" "${limit[@]}" &
  done
  wait
}

# passed_fuzzers [NAME...]: those that the last run_fuzzers found nothing with.
passed_fuzzers() {
  local name
  for name in ${*:-$(fuzzer_names)}; do
    if [ -e "build/fuzz/logs/$name.passed" ]; then echo "$name"; fi
  done
}
