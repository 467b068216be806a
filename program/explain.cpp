#include "program/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <vector>

namespace lockmark::cli {
namespace {

using config::job;
using config::loop_kind;
using config::print_duration;

std::string clients_of(const job& j) {
  if (j.clients_in_all() == 1) return "1 client";
  std::string text = fmt::format("{} clients", j.clients_in_all());
  if (j.instances > 1) text += fmt::format(" ({} instances of {})", j.instances, j.clients);
  if (j.participants > 0) text += fmt::format(" in {} processes of their own", j.participants);
  return text;
}

std::string pause_of(const job& j) {
  if (j.think.always_zero()) return "at once";
  return fmt::format("{} later", config::print_distribution(j.think));
}

std::string load_of(const job& j) {
  const std::string rate = j.rate ? config::print_rate(*j.rate) : "";
  const std::string clients = clients_of(j);
  switch (j.loop) {
    case loop_kind::closed:
      return fmt::format("closed loop: {}, and when an attempt has ended the next begins, {}",
                         clients, pause_of(j));
    case loop_kind::open:
      return fmt::format(
          "open loop: an attempt is due at a constant rate of {}, whether or not "
          "earlier ones have ended; {} to make them",
          rate, clients);
    case loop_kind::poisson:
      return fmt::format(
          "open loop: attempts are due at random, {} on average, whether or not "
          "earlier ones have ended; {} to make them",
          rate, clients);
    case loop_kind::partly_open:
      return fmt::format(
          "partly open: sessions begin at random, {} on average, with {} attempts "
          "each, the next one {}; {} to make them",
          rate, j.cycles, pause_of(j), clients);
  }
  return "";
}

std::string keys_of(const job& j) {
  const std::string keys = config::print_key_choice(j.keys);
  if (keys == "one") return "all clients want the same key";
  if (keys == "own") return "each client has a key of its own";
  return fmt::format("each attempt wants a key by {}", keys);
}

std::string attempt_of(const job& j) {
  const std::string hold = config::print_distribution(j.hold);
  std::string text = j.hold.always_zero() ? "released as soon as it is granted"
                                          : fmt::format("held for {} and released", hold);
  text += fmt::format(
      "; failed if it is not granted within {}. Leases, where a lock has them, are "
      "of {}{}",
      print_duration(j.wait), print_duration(j.lease), j.renew ? ", and renewed" : "");
  if (j.read_share > 0) text += fmt::format(". {:g} % of attempts only read", 100 * j.read_share);
  return text;
}

// "pause holder at 500ms, for 3s" of the keys "1.do", "1.who", "1.at", "1.for".
std::vector<std::string> faults_of(const job& j) {
  std::map<int, std::map<std::string, std::string>> all;
  for (const auto& [key, value] : j.faults) {
    const auto dot = key.find('.');
    all[std::stoi(key.substr(0, dot))][key.substr(dot + 1)] = value;
  }
  std::vector<std::string> said;
  for (auto& [number, fault] : all) {
    std::string text = fault["do"];
    if (fault.contains("who")) text += " " + fault["who"];
    if (fault.contains("at")) text += " at " + fault["at"];
    for (const auto& [key, value] : fault) {
      if (key != "do" && key != "who" && key != "at") text += fmt::format(", {} {}", key, value);
    }
    said.push_back(std::move(text));
  }
  return said;
}

std::string measurement_of(const job& j) {
  std::vector<std::string> until;
  if (j.stop_samples > 0) until.push_back(fmt::format("{} samples", j.stop_samples));
  if (j.stop_owner_changes > 0) {
    until.push_back(fmt::format("{} owner changes", j.stop_owner_changes));
  }
  const std::string time = print_duration(j.stop_duration);
  if (until.empty()) return fmt::format("a measurement of {}", time);
  if (j.stop_duration.count() > 0) until.push_back(time);
  return fmt::format("a measurement until there are {}, of {} at most", fmt::join(until, " and "),
                     print_duration(j.stop_at_most));
}

std::string time_of(const job& j) {
  std::vector<std::string> parts;
  if (j.floor.count() > 0) {
    parts.push_back(
        fmt::format("{} without a lock, to see the harness alone", print_duration(j.floor)));
  }
  if (j.warmup.count() > 0) {
    parts.push_back(fmt::format("{} of warm-up", print_duration(j.warmup)));
  }
  parts.push_back(measurement_of(j));
  const duration before = j.floor + j.warmup;
  const bool by_time = j.stop_samples == 0 && j.stop_owner_changes == 0;
  const duration least = before + j.stop_duration;
  const duration most = by_time ? least : before + j.stop_at_most;
  const std::string in_all =
      least == most ? print_duration(least)
                    : fmt::format("{} to {}", print_duration(least), print_duration(most));
  return fmt::format("{}. In all {}, besides the start of servers and what is under way at the end",
                     fmt::join(parts, ", then "), in_all);
}

}  // namespace

std::string explained(const named_job& named, const std::string& idea) {
  const job& j = named.job;
  std::string text = fmt::format("{}{}{}\n", named.name, idea.empty() ? "" : ": ", idea);
  if (!j.lock.empty()) text += fmt::format("lock     {}\n", j.lock);
  text += fmt::format("load     {}\n", load_of(j));
  text += fmt::format("keys     {}\n", keys_of(j));
  text += fmt::format("attempt  {}\n", attempt_of(j));
  for (const std::string& fault : faults_of(j)) text += fmt::format("fault    {}\n", fault);
  return text + fmt::format("time     {}\n", time_of(j));
}

}  // namespace lockmark::cli
