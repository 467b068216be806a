# shellcheck shell=bash
# A bare Debian in a folder: how it is made, and how something is run in it. Sourced by
# deploy/debian/try, deploy/package/try and deploy/servers, which say what is wrong by their own
# `die`; does nothing by itself.

# check_root_needs PROGRAM...: what making and entering one takes, and these programs.
check_root_needs() {
  local program
  [ "$(id -u)" -eq 0 ] || die "only root can make a root"
  for program in debootstrap unshare "$@"; do
    command -v "$program" >/dev/null || die "needs $program"
  done
}

# take ROOT PATH: as it is here, where it is.
take() {
  if [ ! -e "$2" ]; then return 0; fi
  mkdir -p "$1$(dirname "$2")"
  cp -aL "$2" "$1$(dirname "$2")/"
}

# mirror_of_apt: where this machine's packages come from.
mirror_of_apt() {
  local mirror
  # shellcheck disable=SC2016  # for apt
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
  [ -n "$mirror" ] || die "apt has no mirror"
  echo "$mirror"
}

# make_root RELEASE ROOT: that release and nothing else, in place of what was there; with this
# machine's apt mirror, settings of package managers, and certificates.
make_root() {
  local release=$1 root=$2 mirror path settings
  mirror=$(mirror_of_apt)
  [ -e "/usr/share/debootstrap/scripts/$release" ] ||
    die "debootstrap knows no release '$release'"

  # Mounts live and die in the namespace of what runs in the root, so nothing else is mounted here.
  rm -rf --one-file-system "$root"
  mkdir -p "$root" build/logs
  echo "== making a bare $release"
  debootstrap --variant=minbase --include=ca-certificates "$release" "$root" "$mirror" \
    >"build/logs/debootstrap-$release" 2>&1 ||
    die "failed; see build/logs/debootstrap-$release"

  for path in /usr/local/share/ca-certificates /etc/resolv.conf /etc/hosts /etc/npmrc \
    /usr/etc/npmrc /etc/pip.conf /root/.npmrc /root/.config/go /root/.m2/settings.xml; do
    take "$root" "$path"
  done
  for settings in /etc/apt/apt.conf.d/*; do
    # Those of packages come with the packages.
    dpkg-query -S "$settings" >/dev/null 2>&1 || take "$root" "$settings"
  done
  chroot "$root" update-ca-certificates >/dev/null 2>&1
}

# in_root ROOT FOLDER COMMAND...: runs it there, in namespaces of its own: what it mounts or leaves
# running is gone when it ends.
in_root() {
  # shellcheck disable=SC2016  # for the shells there
  env -u LOCKMARK_INTEROP HOME=/root unshare --mount --pid --fork --kill-child bash -eu -c '
    root=$1
    export folder=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    mount -t tmpfs tmpfs "$root/tmp"
    exec chroot "$root" sh -c "cd \"\$folder\" && exec \"\$@\"" sh "$@"' bash "$@"
}
