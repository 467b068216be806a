#include "program/short_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "harness/base/errors.hpp"
#include "program/declare.hpp"

namespace lockmark::cli {
namespace {

// So many instances of so many clients each: as many instances as the job has, or fewer, so that
// all have the same number of clients.
std::vector<std::string> spread(const std::string& clients, const config::job& job) {
  std::uint64_t all = 0;
  const char* const end = clients.data() + clients.size();
  const auto [stopped, error] = std::from_chars(clients.data(), end, all);
  if (error != std::errc{} || stopped != end || all == 0) {
    throw usage_error("--clients: expected a whole number from 1, not '{}'", clients);
  }
  std::uint64_t instances = std::min(job.instances, all);
  while (all % instances != 0) --instances;
  std::vector<std::string> set{fmt::format("load.instances={}", instances),
                               fmt::format("load.clients={}", all / instances)};
  if (job.participants > instances) set.push_back(fmt::format("participants={}", instances));
  return set;
}

// "KEY=VALUE", or an error that names the option, which is what was typed.
std::string setting_of(std::string_view option, std::string_view key, const std::string& value) {
  std::string set = fmt::format("{}={}", key, value);
  try {
    config::job unused = config::default_job();
    config::apply_set(unused, set);
  } catch (const config::config_error& e) {
    const std::string_view said = e.what();
    throw usage_error("{}{}", option, said.substr(std::min(said.size(), said.find(": "))));
  }
  return set;
}

std::vector<std::string> settings_of(const short_options& given, const config::job& job) {
  std::vector<std::string> set;
  const auto add = [&set](std::string_view option, std::string_view key, const std::string& value) {
    if (!value.empty()) set.push_back(setting_of(option, key, value));
  };
  add("--lock", "lock", given.lock);
  add("--hold", "hold", given.hold);
  add("--keys", "keys", given.keys);
  add("--wait", "wait", given.wait);
  add("--rate", "load.rate", given.rate);
  if (!given.rate.empty() && !job.arrives_by_rate()) {
    set.insert(set.end(), {"load.loop=open", "load.think=0s"});
  }
  if (!given.clients.empty()) {
    const auto all = spread(given.clients, job);
    set.insert(set.end(), all.begin(), all.end());
  }
  if (!given.duration.empty()) {
    set.insert(set.end(), {"stop.samples=0", "stop.owner_changes=0"});
    add("--duration", "stop.duration", given.duration);
    add("--duration", "stop.at_most", given.duration);
  }
  return set;
}

}  // namespace

void declare_short(CLI::App& app, short_options& to) {
  declare(app, "--lock", to.lock, "LOCK", "which lock: --set lock=LOCK");
  declare_load(app, to);
  declare(app, "--rate", to.rate, "RATE",
          "attempts per time, as 500/s, whatever the lock can do: load.rate, and load.loop=open if "
          "the job's is closed");
}

void declare_load(CLI::App& app, short_options& to) {
  declare(app, "--duration", to.duration, "TIME",
          "the measurement takes exactly so long after the warm-up: stop.duration and "
          "stop.at_most, without stop.samples and stop.owner_changes");
  declare(app, "--clients", to.clients, "N",
          "simulated threads in all, spread evenly over the job's load.instances");
  declare(app, "--hold", to.hold, "TIME", "time from grant to release: --set hold=TIME");
  declare(app, "--keys", to.keys, "KEYS", "one, own, uniform(20), ...: --set keys=KEYS");
  declare(app, "--wait", to.wait, "TIME", "acquire timeout: --set wait=TIME");
}

std::vector<std::string> settings_for(const std::string& path_or_name, const short_options& given) {
  const job_text found = find_job_text(path_or_name);
  return settings_of(given, config::draft_job(found.yaml, found.file));
}

std::vector<std::string> words_of(const short_options& given) {
  std::vector<std::string> words;
  const auto add = [&words](std::string_view option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("{}={}", option, value));
  };
  add("--lock", given.lock);
  add("--duration", given.duration);
  add("--clients", given.clients);
  add("--rate", given.rate);
  add("--hold", given.hold);
  add("--keys", given.keys);
  add("--wait", given.wait);
  return words;
}

named_job find_job(const std::string& path_or_name, const short_options& given,
                   const std::vector<std::string>& set) {
  const job_text found = find_job_text(path_or_name);
  std::vector<std::string> all = settings_of(given, config::draft_job(found.yaml, found.file));
  all.insert(all.end(), set.begin(), set.end());
  return {found.name, config::parse_job(found.yaml, found.file, all)};
}

}  // namespace lockmark::cli
