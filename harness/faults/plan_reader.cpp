// Reads the keys of a job's faults. Rules that concern one kind of fault are in its class.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "harness/config/job.hpp"
#include "harness/config/option.hpp"
#include "harness/faults/kind.hpp"

namespace lockmark::faults {
namespace {

using namespace std::chrono_literals;
using config::expected;
using config::nearest_name;
using config::parse_count;
using config::print_duration;

constexpr duration longest_fault = 24h;
constexpr std::uint64_t greatest_nth = 1'000'000'000;
constexpr std::size_t longest_on = 512;

// Thrown by a reader that finds an error.
struct refusal {
  config::fault_problem what;
};

// True if exactly `names` words follow the first one, each after one blank.
bool names_follow(std::string_view text, std::size_t names) {
  const bool tidy = text.find("  ") == text.npos && !text.ends_with(' ');
  return tidy && static_cast<std::size_t>(std::ranges::count(text, ' ')) == names;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> all;
  for (const fault_kind* kind : kinds()) all.emplace_back(kind->name);
  return all;
}

// "do: delay and do: jump_clock": the kinds that take a key.
std::string takers_of(std::string_view key) {
  std::vector<std::string> all;
  for (const fault_kind* kind : kinds()) {
    if (kind->takes(key, {})) all.push_back(fmt::format("do: {}", kind->name));
  }
  return fmt::format("{}", fmt::join(all, " and "));
}

void read_kind(given_keys& fault, std::string_view key, const std::string& text) {
  fault.plan.what = find_kind(text);
  if (fault.plan.what != nullptr) return;
  const auto names = kind_names();
  fault.refuse(key, expected(fmt::format("{}", fmt::join(names, ", ")), text,
                             fmt::format("is nearest to {}", nearest_name(text, names)))
                        .sentence);
}

void check_participant(const given_keys& fault, std::string_view key, const std::string& text) {
  constexpr std::string_view word = "participant ";
  if (!text.starts_with(word)) return;
  const auto number = parse_count(text.substr(word.size()));
  if (!number || *number == 0) {
    fault.refuse(key, expected("'participant' and a number from 1", text).sentence);
  }
}

void read_who(given_keys& fault, std::string_view key, const std::string& text) {
  const target_word* found = find_target_word(text);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const target_word& each : target_words()) names.emplace_back(each.word);
    const auto first = text.substr(0, text.find(' '));
    fault.refuse(key, expected(fmt::format("{}", fmt::join(names, ", ")), text,
                               fmt::format("is nearest to {}", nearest_name(first, names)))
                          .sentence);
  }
  if (!names_follow(text, found->names)) {
    constexpr std::array endings{"' alone", " 1'", " 1 2'"};
    const auto form = fmt::format("'{}{}", found->word, endings.at(found->names));
    fault.refuse(key, expected(form, text).sentence);
  }
  check_participant(fault, key, text);
  fault.plan.who = text;
}

void read_with(given_keys& fault, std::string_view key, const std::string& text) {
  const bool known = text == "holder" || text == "participants" || text.starts_with("participant ");
  if (!known || !names_follow(text, find_target_word(text)->names)) {
    fault.refuse(key, expected("holder, 'participant 1' or participants", text).sentence);
  }
  check_participant(fault, key, text);
  fault.plan.with = text;
}

duration duration_of(const given_keys& fault, std::string_view key, const std::string& text,
                     duration least) {
  const auto value = config::parse_duration(text);
  if (!value) fault.refuse(key, value.error().sentence);
  if (*value < least || *value > longest_fault) {
    fault.refuse(key, expected(fmt::format("a duration from {} to {}", print_duration(least),
                                           print_duration(longest_fault)),
                               text)
                          .sentence);
  }
  return *value;
}

template <duration fault_plan::*member, int least_ms>
void read_time(given_keys& fault, std::string_view key, const std::string& text) {
  fault.plan.*member = duration_of(fault, key, text, std::chrono::milliseconds{least_ms});
}

// The only duration that may be negative: a clock can be set back.
void read_by(given_keys& fault, std::string_view key, const std::string& text) {
  const bool back = text.starts_with('-');
  const duration size = duration_of(fault, key, back ? text.substr(1) : text, 1ns);
  fault.plan.by = back ? -size : size;
}

void read_nth(given_keys& fault, std::string_view key, const std::string& text) {
  const auto n = parse_count(text);
  if (!n || *n == 0 || *n > greatest_nth) {
    fault.refuse(key, expected("a whole number from 1 to 1000000000", text).sentence);
  }
  fault.plan.nth = *n;
}

template <std::string fault_plan::*member>
void read_text(given_keys& fault, std::string_view key, const std::string& text) {
  if (text.empty()) fault.refuse(key, "expected a text, not ''");
  if (key == "on" && text.size() > longest_on) {
    fault.refuse(key, fmt::format("expected at most {} bytes, not {}", longest_on, text.size()));
  }
  fault.plan.*member = text;
}

void read_data(given_keys& fault, std::string_view key, const std::string& text) {
  if (text != "kept" && text != "lost") {
    fault.refuse(key, expected("kept or lost", text).sentence);
  }
  fault.plan.keeps_data = text == "kept";
}

struct known_key {
  std::string_view name;
  void (*read)(given_keys& fault, std::string_view key, const std::string& text);
};

constexpr std::array<known_key, 13> known_keys{{
    {"do", read_kind},
    {"who", read_who},
    {"with", read_with},
    {"at", read_time<&fault_plan::at, 0>},
    {"for", read_time<&fault_plan::lasts, 1>},
    {"every", read_time<&fault_plan::every, 1>},
    {"by", read_by},
    {"on", read_text<&fault_plan::on>},
    {"nth", read_nth},
    {"answered", read_text<&fault_plan::answered>},
    {"data", read_data},
    {"command", read_text<&fault_plan::command>},
    {"undo", read_text<&fault_plan::undo>},
}};

void take(given_keys& fault, const std::string& key, const std::string& text) {
  const auto known = std::ranges::find(known_keys, key, &known_key::name);
  if (known != known_keys.end()) {
    fault.add(key);
    return known->read(fault, key, text);
  }
  std::vector<std::string> names;
  for (const known_key& each : known_keys) names.emplace_back(each.name);
  fault.refuse(key, fmt::format("is an unknown key of a fault; the nearest known key is {}",
                                nearest_name(key, names)));
}

void check_time(const given_keys& fault) {
  if (fault.has("at") && fault.has("on"))
    fault.refuse("on", "excludes at: a fault has one of them");
  if (!fault.has("at") && !fault.has("on")) {
    fault.refuse("at",
                 "is missing: when the fault begins, counted from the beginning of the window");
  }
  if (fault.has("nth") && !fault.has("on"))
    fault.refuse("nth", "counts the requests of on, which is missing");
  if (fault.has("answered") && !fault.has("on")) {
    fault.refuse("answered", "chooses among the requests of on, which is missing");
  }
  if (fault.has("every") && fault.has("on")) fault.refuse("every", "goes with at, not with on");
  if (fault.has("every") && fault.plan.every <= fault.plan.lasts) {
    fault.refuse("every",
                 fmt::format("of {} is not longer than for of {}", print_duration(fault.plan.every),
                             print_duration(fault.plan.lasts)));
  }
}

void check_target(const given_keys& fault) {
  const fault_kind& kind = *fault.plan.what;
  if (!fault.has("who"))
    fault.refuse("who", fmt::format("is missing: whom do: {} hits", kind.name));
  if (fault.plan.who == "replication" && !kind.of_links()) {
    fault.refuse("who", fmt::format("replication is a link, which do: {} cannot hit", kind.name));
  }
  if (hits_one_link(fault.plan) && !kind.of_links()) {
    fault.refuse("who", fmt::format("expected a server: do: {} does not hit links", kind.name));
  }
  if (fault.has("on") && !hits_participants(fault.plan)) {
    fault.refuse("on", "is for the holder and participants, whose requests it watches");
  }
}

void check_company(const given_keys& fault) {
  if (!fault.has("with")) return;
  if (!fault.plan.what->of_links()) fault.refuse("with", "is for do: cut, stall and delay only");
  if (hits_participants(fault.plan) || hits_one_link(fault.plan) ||
      fault.plan.who == "replication") {
    fault.refuse("with", "goes with servers: it names the clients that stay on their side");
  }
}

// Rejects keys that this kind of fault does not take.
void check_strangers(const given_keys& fault) {
  const fault_kind& kind = *fault.plan.what;
  if (kind.takes("by", fault.plan) && !fault.has("by")) {
    fault.refuse("by", fmt::format("is needed by do: {}", kind.name));
  }
  for (const char* key : {"by", "data", "command", "undo"}) {
    if (!fault.has(key) || kind.takes(key, fault.plan)) continue;
    fault.refuse(key, std::string_view{key} == "data"
                          ? "is for the kill of servers only"
                          : fmt::format("is for {} only", takers_of(key)));
  }
}

void check(const given_keys& fault) {
  if (!fault.has("do")) {
    fault.refuse("do", fmt::format("is missing; known are {}", fmt::join(kind_names(), ", ")));
  }
  check_time(fault);
  const fault_kind& kind = *fault.plan.what;
  if (kind.needs_length() && !fault.has("for")) {
    fault.refuse("for", fmt::format("is missing: how long do: {} lasts", kind.name));
  }
  kind.check(fault);
  if (kind.has_target()) check_target(fault);
  check_company(fault);
  check_strangers(fault);
}

// "1.do" as (1, "do").
std::pair<std::uint64_t, std::string> split_key(const std::string& key) {
  const auto dot = key.find('.');
  const auto number = parse_count(key.substr(0, dot));
  if (dot == std::string::npos || !number || *number == 0) {
    throw refusal{{fmt::format("faults.{}", key),
                   "expected a numbered fault and its key, such as faults.1.do"}};
  }
  return {*number, key.substr(dot + 1)};
}

std::vector<fault_plan> read(const std::map<std::string, std::string>& keys) {
  std::map<std::uint64_t, given_keys> faults;
  for (const auto& [key, text] : keys) {
    const auto [number, name] = split_key(key);
    take(faults.try_emplace(number, number).first->second, name, text);
  }
  std::vector<fault_plan> plans;
  for (const auto& [number, fault] : faults) {
    check(fault);
    plans.push_back(fault.plan);
  }
  return plans;
}

}  // namespace

given_keys::given_keys(std::uint64_t number) : prefix_(fmt::format("faults.{}.", number)) {}

bool given_keys::has(std::string_view key) const {
  return std::ranges::count(keys_, key) > 0;
}

void given_keys::refuse(std::string_view key, std::string sentence) const {
  throw refusal{{fmt::format("{}{}", prefix_, key), std::move(sentence)}};
}

bool fault_kind::takes(std::string_view, const fault_plan&) const {
  return false;
}

std::vector<fault_plan> read_faults(const std::map<std::string, std::string>& keys) {
  try {
    return read(keys);
  } catch (const refusal& r) {
    throw config::config_error(fmt::format("{}: {}", r.what.key, r.what.sentence));
  }
}

}  // namespace lockmark::faults

namespace lockmark::config {

std::optional<fault_problem> find_fault_problem(const std::map<std::string, std::string>& keys) {
  try {
    faults::read(keys);
  } catch (const faults::refusal& r) {
    return r.what;
  }
  return std::nullopt;
}

}  // namespace lockmark::config
