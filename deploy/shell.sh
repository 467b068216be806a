# shellcheck shell=bash
# What quickstart and check have in common: the packages of Debian 12 and 13 that lockmark needs,
# how they come onto a machine, and how it is built. Sourced; does nothing by itself. Removes no
# package.

# The libraries of the tests are among them, because CMake configures the tests with the rest.
build_packages=(
  cmake ninja-build g++ pkg-config
  libasio-dev libssl-dev libzookeeper-st-dev libmariadb-dev libpq-dev
  libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libcli11-dev zlib1g-dev
  prometheus-cpp-dev libcurl4-openssl-dev
  libnghttp2-dev libprotobuf-dev protobuf-compiler libgrpc++-dev protobuf-compiler-grpc
  libgtest-dev libgmock-dev libbenchmark-dev
  libjs-chart.js libkainjow-mustache-dev
)
# MariaDB's core packages are its programs without its system service. mariadb-install-db needs
# my_print_defaults, which is in mariadb-client-core. PostgreSQL has no such package: its own makes
# a data directory, which stays unused. openssl makes the certificates of local servers.
server_packages=(
  redis-server
  libzookeeper-java libslf4j-java default-jre-headless
  mariadb-server-core mariadb-client-core galera-4
  etcd-server etcd-client postgresql pgbouncer
  openssl
)
# HdrHistogram's own reader, to which our histogram files are held.
# Python runs the adapter that drivers/exec/README.md shows, builds the dashboards, and drives
# Chromium, which opens HTML reports. Prometheus (with promtool) and its Pushgateway read what
# lockmark exports. tmux is the terminal in which progress is looked at; xmllint, groff, fish and
# zsh read what is written for them. mold links the test programs. git is what ./release works on.
test_packages=(
  libhdrhistogram-java python3 chromium prometheus prometheus-pushgateway
  tmux libxml2-utils groff-base fish zsh mold git
)
# What fetches, builds and runs the real lock clients of deploy/interop and the checkers of
# deploy/schema, as package:program. Where the program is on PATH, the package is not missing: a
# newer node, go or java may be there.
interop_packages=(
  maven:mvn default-jdk-headless:javac nodejs:node npm:npm golang-go:go
  python3-kazoo python3-pip ca-certificates
)
# What starts agents on other machines.
launcher_packages=(
  openssh-server openssh-client openmpi-bin slurmctld slurmd slurm-client munge
)
# A clang with libFuzzer, which g++ has not. A newer one on PATH is preferred to it.
fuzz_packages=(clang-19 libclang-rt-19-dev)

# missing_packages NAME[:PROGRAM]...: prints those that are not installed, in one line.
missing_packages() {
  local name missing=()
  for name in "$@"; do
    case "$name" in
      *:*) if command -v "${name#*:}" >/dev/null; then continue; fi ;;
    esac
    name=${name%%:*}
    # shellcheck disable=SC2016  # ${...} is for dpkg-query
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" != installed ]; then
      missing+=("$name")
    fi
  done
  printf '%s' "${missing[*]}"
}

# download_megabytes NAME...: what apt would download for them; nothing where it cannot say.
download_megabytes() {
  LC_ALL=C apt-get --print-uris --yes install --no-install-recommends "$@" 2>/dev/null |
    awk '/^\x27/ { sum += $3 } END { if (sum > 0) printf "%.0f\n", sum / 1e6 + 0.5 }' || true
}

# install_packages NAME...: installs them, as root or by sudo. apt's output is shown if it fails.
install_packages() {
  local sudo=() log
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Cannot install packages: you are not root and there is no sudo. As root, run:" >&2
      echo "  apt-get install --no-install-recommends $*" >&2
      return 1
    fi
    sudo=(sudo)
  fi
  log=$(mktemp)
  if ! (install_without_services "$@") >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    echo "apt-get could not install: $*" >&2
    return 1
  fi
  rm -f "$log"
}

# Debian starts a service as soon as its package is installed, here Redis on its default port; but
# lockmark starts its own servers. Debian's way to forbid it is a policy-rc.d that exits with 101.
# One that exists already is the administrator's, and stays. Needs a subshell, for the trap's sake.
install_without_services() {
  local policy=/usr/sbin/policy-rc.d
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive
    apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update || return 1
  if [ ! -e "$policy" ]; then
    # shellcheck disable=SC2064  # the values of now
    trap "${sudo[*]} rm -f $policy" EXIT
    printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee "$policy" >/dev/null || return 1
    "${sudo[@]}" chmod 755 "$policy" || return 1
  fi
  "${apt[@]}" install --yes --no-install-recommends "$@" || return 1
  # Nor at the next boot, where systemd is the one that boots. Only for what was installed just now.
  local service
  for service in redis-server etcd postgresql pgbouncer prometheus prometheus-pushgateway \
    openssh-server:ssh munge slurmctld slurmd; do
    case " $* " in
      *" ${service%:*} "*)
        if [ -d /run/systemd/system ]; then
          "${sudo[@]}" systemctl disable "${service#*:}" || return 1
        fi
        ;;
    esac
  done
}

# elapsed SINCE: the time since the value that bash's SECONDS had then, as 1m05s or 12s.
elapsed() {
  local took=$((SECONDS - $1))
  if [ "$took" -ge 60 ]; then
    printf '%dm%02ds' $((took / 60)) $((took % 60))
  else
    printf '%ds' "$took"
  fi
}

# quietly LOG COMMAND...: runs it; its output goes to the file, and on to stdout only if it fails,
# without Ninja's lines about what went well.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if "$@" >"$log" 2>&1 </dev/null; then return 0; fi
  sed '/^\[[0-9]*\/[0-9]*\] /d' "$log"
  return 1
}

# configure PRESET [OPTION...]: ccache is used where it is, but it cannot do without a home
# directory.
configure() {
  local preset=$1 launcher=
  shift
  if [ -n "${HOME:-}" ] && command -v ccache >/dev/null; then launcher=ccache; fi
  quietly "build/logs/configure-$preset" cmake --preset "$preset" \
    "-DCMAKE_CXX_COMPILER_LAUNCHER=$launcher" -DLOCKMARK_UNITY=20 "$@"
}

# build PRESET [TARGET...]: without a target, everything.
build() {
  local preset=$1
  shift
  local command=(cmake --build --preset "$preset" --parallel "$(nproc)")
  if [ $# -gt 0 ]; then command+=(--target "$@"); fi
  quietly "build/logs/build-$preset" "${command[@]}"
}
