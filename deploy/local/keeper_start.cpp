// The start of a cluster: its files, its servers, and the wait until they answer.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "deploy/local/error.hpp"
#include "deploy/local/keeper_process.hpp"

namespace lockmark::local {
namespace {

using namespace std::chrono_literals;

constexpr duration probe_interval = 20ms;
constexpr duration probe_time_limit = 500ms;

void write_file(const text_file& file) {
  std::ofstream out(file.path);
  out << file.text;
  out.close();
  if (!out) throw start_error(fmt::format("the file {} could not be written", file.path.string()));
}

}  // namespace

void keeper::start() {
  remove_abandoned_directories();
  site where{directory_.path(), ports_};
  where.keeps_data = with_.keeps_data;
  plan planned = topology_.make(where);
  target_ = planned.target;
  for (server_spec& spec : planned.servers) {
    std::filesystem::create_directory(where.folder(spec.name));
    std::for_each(spec.files.begin(), spec.files.end(), write_file);
    if (!with_.clock_shim.empty()) {
      write_file(
          {clock_file(directory_.path(), spec.name), std::string(sizeof(std::int64_t), '\0')});
    }
    std::for_each(spec.prepare.begin(), spec.prepare.end(),
                  [this](const command& step) { run_command(step); });
    servers_.push_back({std::move(spec)});
  }
  if (with_.between) ask_for_detours();
  // All at once: the members of an ensemble only answer when most of them run.
  for (server& each : servers_) start_server(each);
  for (const server& each : servers_) wait_until_ready(each);
  for (const command& step : planned.after_start) run_command(step);
  wait_until_joined();
}

// Asks the owner for the ports by which the servers reach each other.
void keeper::ask_for_detours() {
  std::vector<server_spec> specs;
  for (const server& each : servers_) specs.push_back(each.spec);
  const std::vector<peer_way> ways = peer_ways(specs);
  send_reply(control_, {describe(), {}, {}, ways});
  std::string message;
  while (message.empty()) message = pause(forever);
  std::istringstream words(message);
  std::string verb;
  words >> verb;
  for (const peer_way& way : ways) {
    int port = 0;
    if (verb != "ways" || !(words >> port)) {
      throw start_error(fmt::format("nobody said how {} reaches {}", way.from, way.to));
    }
    std::string& detours = find(way.from).detours;
    detours += fmt::format("{}{}>{}", detours.empty() ? "" : ",", way.port, port);
  }
}

void keeper::start_server(server& which) {
  site where{directory_.path(), ports_};
  which.pid = launch_in(where.folder(which.spec.name), where.log(which.spec.name), which.spec.argv,
                        environment_of(which));
}

std::vector<std::string> keeper::environment_of(const server& which) const {
  std::vector<std::string> shims = which.spec.preloaded, all;
  if (!with_.clock_shim.empty()) {
    shims.push_back(with_.clock_shim);
    all.push_back(fmt::format("LOCKMARK_CLOCK_FILE={}",
                              clock_file(directory_.path(), which.spec.name).string()));
  }
  if (!which.detours.empty()) {
    shims.push_back(with_.link_shim);
    all.push_back(fmt::format("LOCKMARK_WAYS={}", which.detours));
  }
  if (!shims.empty()) all.push_back(fmt::format("LD_PRELOAD={}", fmt::join(shims, ":")));
  return all;
}

void keeper::wait_until_ready(const server& which) {
  if (which.spec.ready.judge != nullptr) wait_for_answer(which, which.spec.ready);
}

// Not while one of them is down: the others may be unable to join without it.
void keeper::wait_until_joined() {
  for (const server& each : servers_) {
    if (has_ended(each.pid)) return;
  }
  for (const server& each : servers_) {
    if (each.spec.joined.judge != nullptr) wait_for_answer(each, each.spec.joined);
  }
}

void keeper::wait_for_answer(const server& which, const probe& ask) {
  const auto& spec = which.spec;
  const std::filesystem::path log = site{directory_.path(), ports_}.log(spec.name);
  const time_point deadline = clock_.now() + spec.time_limit;
  while (!answers(ask, spec.port, probe_time_limit)) {
    pause(probe_interval);
    if (has_ended(which.pid)) {
      throw start_error(fmt::format("{} {} before it answered on 127.0.0.1:{}", spec.name,
                                    describe_status(ended_.at(which.pid)), spec.port),
                        tail(log));
    }
    if (clock_.now() > deadline) {
      throw start_error(
          fmt::format(
              "{} did not answer on 127.0.0.1:{} within {} ms", spec.name, spec.port,
              std::chrono::duration_cast<std::chrono::milliseconds>(spec.time_limit).count()),
          tail(log));
    }
  }
}

void keeper::run_command(const command& what) {
  const std::filesystem::path log = directory_.path() / "prepare.log";
  int status = 0;
  for (int tried = 0; tried < what.tries; ++tried) {
    if (tried > 0 && !what.makes.empty()) std::filesystem::remove_all(what.makes);
    const pid_t pid = launch_in(directory_.path(), log, what.argv);
    if (!wait_for_end(pid, clock_.now() + what.time_limit)) {
      throw start_error(fmt::format("could not {}: {} did not end within {} ms", what.purpose,
                                    what.argv[0], what.time_limit / 1ms),
                        tail(log));
    }
    status = ended_.at(pid);
    if (status == 0) return;
  }
  throw start_error(
      fmt::format("could not {}: {} {}", what.purpose, what.argv[0], describe_status(status)),
      tail(log));
}

pid_t keeper::launch_in(const std::filesystem::path& folder, const std::filesystem::path& log,
                        const std::vector<std::string>& argv,
                        const std::vector<std::string>& environment) {
  const pid_t pid = spawn({argv, folder, log, environment});
  living_[pid] = true;
  ended_.erase(pid);
  return pid;
}

}  // namespace lockmark::local
