#include "program/test_launchers.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

// --- ssh ---

local::verdict judge_ssh(std::string_view answer) {
  if (answer.find('\n') == answer.npos) return local::verdict::more;
  return answer.starts_with("SSH-2.0-") ? local::verdict::ready : local::verdict::not_yet;
}

// Where lockmark is, for whoever runs it there by its name.
std::string path_there() {
  return fmt::format("{}:/usr/local/bin:/usr/bin:/bin",
                     fs::path(LOCKMARK_BINARY).parent_path().string());
}

std::string sshd_configuration(const fs::path& folder, int port) {
  return fmt::format(R"(ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv PATH={path}
ForceCommand /bin/sh {folder}/session
)",
                     fmt::arg("port", port), fmt::arg("folder", folder.string()),
                     fmt::arg("path", path_there()));
}

std::string ssh_configuration(const fs::path& folder, int port, int closed) {
  return fmt::format(R"(Host closed
  Port {closed}
Host stranger
  IdentityFile {folder}/host_key
Host nowhere
  HostName nowhere.invalid
Host *
  HostName 127.0.0.1
  Port {port}
  HostKeyAlias lockmark
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile none
  IdentitiesOnly yes
  IdentityAgent none
Host * !stranger
  IdentityFile {folder}/user_key
)",
                     fmt::arg("port", port), fmt::arg("closed", closed),
                     fmt::arg("folder", folder.string()));
}

// A session's folder is also where it keeps temporary files: Open MPI's daemons of one host share
// theirs, and these are to be on three.
std::string session_script(const fs::path& sessions) {
  return fmt::format(
      "TMPDIR=$(mktemp --directory --tmpdir={}) && export TMPDIR && cd \"$TMPDIR\" &&\n"
      "exec /bin/sh -c \"$SSH_ORIGINAL_COMMAND\"\n",
      sessions.string());
}

local::command ssh_keys(local::site& where, const fs::path& folder) {
  const std::string keygen = where.program("ssh-keygen", "openssh-client");
  return {.purpose = "make the keys of ssh",
          .argv = {"/bin/sh", "-ec",
                   fmt::format("cd {}; mkdir sessions; chmod 700 ssh\n"
                               "for name in host_key user_key; do\n"
                               "  {} -q -t ed25519 -N '' -f $name; done\n"
                               "echo \"lockmark $(cat host_key.pub)\" >known_hosts",
                               folder.string(), keygen)}};
}

// As root, sshd wants /run/sshd, which Debian's service makes: here in a /run that only it sees.
std::vector<std::string> sshd_command(local::site& where, const fs::path& configuration) {
  const std::string sshd = fmt::format(
      "exec {} -D -e -f {}", where.program("sshd", "openssh-server"), configuration.string());
  if (geteuid() != 0) return {"/bin/sh", "-c", sshd};
  return {where.program("unshare", "util-linux"), "--mount", "/bin/sh", "-c",
          "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd && " + sshd};
}

local::plan plan_ssh(local::site& where) {
  local::server_spec sshd;
  sshd.name = "sshd";
  sshd.port = where.ports.take(sshd.name);
  sshd.ready = {"", judge_ssh};
  const fs::path folder = where.folder(sshd.name);
  const fs::path configuration = folder / "ssh_config";
  sshd.files = {
      {folder / "sshd_config", sshd_configuration(folder, sshd.port)},
      {configuration, ssh_configuration(folder, sshd.port, where.ports.take("nothing"))},
      {folder / "session", session_script(folder / "sessions")},
      {folder / "ssh", fmt::format("#!/bin/sh\nexec {} -F {} \"$@\"\n",
                                   where.program("ssh", "openssh-client"), configuration.string())},
  };
  sshd.prepare = {ssh_keys(where, folder)};
  sshd.argv = sshd_command(where, folder / "sshd_config");
  local::plan result;
  result.servers.push_back(std::move(sshd));
  return result;
}

// --- Slurm ---

constexpr const char* nodes[] = {"h1", "h2", "h3"};

std::string this_user() {
  const passwd* const entry = getpwuid(geteuid());
  return entry == nullptr ? "root" : entry->pw_name;
}

// Slurm takes three nodes on one machine for three, if each has a port of its own.
std::string slurm_text(const fs::path& cluster, int controller, const std::string& node_lines) {
  return fmt::format(R"(ClusterName=lockmark
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={cluster}/munged/socket
CredType=cred/munge
StateSaveLocation={cluster}/slurmctld
SlurmctldPidFile={cluster}/slurmctld/pid
SlurmdPidFile={cluster}/%n/pid
SlurmdSpoolDir={cluster}/%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
{nodes}PartitionName=all Nodes=h1,h2,h3 Default=YES MaxTime=INFINITE State=UP
)",
                     fmt::arg("cluster", cluster.string()), fmt::arg("controller", controller),
                     fmt::arg("user", this_user()), fmt::arg("nodes", node_lines));
}

local::server_spec munge(local::site& where) {
  local::server_spec munged;
  munged.name = "munged";
  const std::string folder = where.folder(munged.name).string();
  munged.prepare = {{.purpose = "make the key of munge",
                     .argv = {where.program("dd", "coreutils"), "if=/dev/urandom",
                              "of=" + folder + "/key", "bs=32", "count=1", "status=none"}}};
  // By force: its folder is where nobody else looks for it.
  munged.argv = {where.program("munged", "munge"), "--foreground", "--force"};
  for (const char* option : {"key-file", "socket", "pid-file", "seed-file", "log-file"}) {
    const std::string_view name = option;
    munged.argv.push_back(fmt::format("--{}={}/{}", name, folder, name.substr(0, name.find('-'))));
  }
  return munged;
}

local::plan plan_slurm(local::site& where) {
  local::plan result;
  result.servers.push_back(munge(where));
  const fs::path configuration = slurm_configuration(where.directory);
  local::server_spec controller;
  controller.name = "slurmctld";
  controller.port = where.ports.take(controller.name);
  controller.argv = {where.program("slurmctld", "slurmctld"), "-D", "-f", configuration.string()};
  std::vector<local::server_spec> daemons;
  std::string node_lines;
  for (const char* const node : nodes) {
    local::server_spec slurmd;
    slurmd.name = node;
    slurmd.port = where.ports.take(node);
    slurmd.argv = {
        where.program("slurmd", "slurmd"), "-D", "-N", node, "-f", configuration.string()};
    node_lines +=
        fmt::format("NodeName={} NodeHostname=localhost NodeAddr=127.0.0.1 Port={} CPUs=1\n", node,
                    slurmd.port);
    daemons.push_back(std::move(slurmd));
  }
  controller.files = {{configuration, slurm_text(where.directory, controller.port, node_lines)}};
  result.servers.push_back(std::move(controller));
  for (local::server_spec& slurmd : daemons) result.servers.push_back(std::move(slurmd));
  // Its programs try to reach the controller for seconds.
  result.after_start = {{.purpose = "reach the controller of Slurm",
                         .argv = {where.program("env", "coreutils"),
                                  fmt::format("SLURM_CONF={}", configuration.string()),
                                  where.program("sinfo", "slurm-client")}}};
  return result;
}

}  // namespace

local::topology ssh_hosts() {
  return {"ssh", "hosts that are reached by ssh", plan_ssh};
}

fs::path sessions_of(const fs::path& cluster) {
  return cluster / "sshd" / "sessions";
}

local::topology slurm_nodes() {
  return {"slurm", "three nodes of Slurm", plan_slurm};
}

fs::path slurm_configuration(const fs::path& cluster) {
  return cluster / "slurmctld" / "slurm.conf";
}

}  // namespace lockmark::cli
