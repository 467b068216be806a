// Reads the keys of a job's faults. Rules that concern one kind of fault are in its class.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>

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

// Reads the keys of one fault.
class reader {
 public:
  explicit reader(std::uint64_t number) : given_(number) {}

  void take(const std::string& key, const std::string& text);
  fault_plan finish();

 private:
  [[noreturn]] void refuse(std::string_view key, std::string sentence) const {
    given_.refuse(key, std::move(sentence));
  }
  bool has(std::string_view key) const { return given_.has(key); }
  fault_plan& plan() { return given_.plan; }
  const fault_plan& plan() const { return given_.plan; }

  void read_kind(const std::string& text);
  void read_who(const std::string& text);
  void read_with(const std::string& text);
  void check_participant(std::string_view key, const std::string& text) const;
  void read_nth(const std::string& text);
  void read_data(const std::string& text);
  void read_by(const std::string& text);
  void read_text(std::string_view key, const std::string& text, std::string& into) const;
  duration read_duration(std::string_view key, const std::string& text, duration least) const;
  void check_time() const;
  void check_target() const;
  void check_company() const;
  void check_strangers() const;

  struct known_key {
    std::string_view name;
    std::function<void(reader&, const std::string& text)> read;
  };
  static const std::vector<known_key>& known_keys();

  given_keys given_;
};

const std::vector<reader::known_key>& reader::known_keys() {
  using text = const std::string&;
  static const std::vector<known_key> all{
      {"do", [](reader& r, text t) { r.read_kind(t); }},
      {"who", [](reader& r, text t) { r.read_who(t); }},
      {"with", [](reader& r, text t) { r.read_with(t); }},
      {"at", [](reader& r, text t) { r.plan().at = r.read_duration("at", t, 0ns); }},
      {"for", [](reader& r, text t) { r.plan().lasts = r.read_duration("for", t, 1ms); }},
      {"every", [](reader& r, text t) { r.plan().every = r.read_duration("every", t, 1ms); }},
      {"by", [](reader& r, text t) { r.read_by(t); }},
      {"on", [](reader& r, text t) { r.read_text("on", t, r.plan().on); }},
      {"nth", [](reader& r, text t) { r.read_nth(t); }},
      {"answered", [](reader& r, text t) { r.read_text("answered", t, r.plan().answered); }},
      {"data", [](reader& r, text t) { r.read_data(t); }},
      {"command", [](reader& r, text t) { r.read_text("command", t, r.plan().command); }},
      {"undo", [](reader& r, text t) { r.read_text("undo", t, r.plan().undo); }},
  };
  return all;
}

void reader::take(const std::string& key, const std::string& text) {
  for (const known_key& known : known_keys()) {
    if (known.name != key) continue;
    given_.add(key);
    return known.read(*this, text);
  }
  std::vector<std::string> names;
  for (const known_key& known : known_keys()) names.emplace_back(known.name);
  refuse(key, fmt::format("is an unknown key of a fault; the nearest known key is {}",
                          nearest_name(key, names)));
}

void reader::read_kind(const std::string& text) {
  plan().what = find_kind(text);
  if (plan().what != nullptr) return;
  const auto names = kind_names();
  refuse("do", expected(fmt::format("{}", fmt::join(names, ", ")), text,
                        fmt::format("is nearest to {}", nearest_name(text, names)))
                   .sentence);
}

void reader::read_who(const std::string& text) {
  const target_word* found = find_target_word(text);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const target_word& each : target_words()) names.emplace_back(each.word);
    const auto first = text.substr(0, text.find(' '));
    refuse("who", expected(fmt::format("{}", fmt::join(names, ", ")), text,
                           fmt::format("is nearest to {}", nearest_name(first, names)))
                      .sentence);
  }
  if (!names_follow(text, found->names)) {
    constexpr std::array endings{"' alone", " 1'", " 1 2'"};
    const auto form = fmt::format("'{}{}", found->word, endings.at(found->names));
    refuse("who", expected(form, text).sentence);
  }
  check_participant("who", text);
  plan().who = text;
}

void reader::read_with(const std::string& text) {
  const bool known = text == "holder" || text == "participants" || text.starts_with("participant ");
  if (!known || !names_follow(text, find_target_word(text)->names)) {
    refuse("with", expected("holder, 'participant 1' or participants", text).sentence);
  }
  check_participant("with", text);
  plan().with = text;
}

void reader::check_participant(std::string_view key, const std::string& text) const {
  constexpr std::string_view word = "participant ";
  if (!text.starts_with(word)) return;
  const auto number = parse_count(text.substr(word.size()));
  if (!number || *number == 0) {
    refuse(key, expected("'participant' and a number from 1", text).sentence);
  }
}

void reader::read_nth(const std::string& text) {
  const auto n = parse_count(text);
  if (!n || *n == 0 || *n > greatest_nth) {
    refuse("nth", expected("a whole number from 1 to 1000000000", text).sentence);
  }
  plan().nth = *n;
}

void reader::read_data(const std::string& text) {
  if (text != "kept" && text != "lost") {
    refuse("data", expected("kept or lost", text).sentence);
  }
  plan().keeps_data = text == "kept";
}

// The only duration that may be negative: a clock can be set back.
void reader::read_by(const std::string& text) {
  const bool back = text.starts_with('-');
  const duration size = read_duration("by", back ? text.substr(1) : text, 1ns);
  plan().by = back ? -size : size;
}

void reader::read_text(std::string_view key, const std::string& text, std::string& into) const {
  if (text.empty()) refuse(key, "expected a text, not ''");
  if (key == "on" && text.size() > longest_on) {
    refuse(key, fmt::format("expected at most {} bytes, not {}", longest_on, text.size()));
  }
  into = text;
}

duration reader::read_duration(std::string_view key, const std::string& text,
                               duration least) const {
  const auto value = config::parse_duration(text);
  if (!value) refuse(key, value.error().sentence);
  if (*value < least || *value > longest_fault) {
    refuse(key, expected(fmt::format("a duration from {} to {}", print_duration(least),
                                     print_duration(longest_fault)),
                         text)
                    .sentence);
  }
  return *value;
}

fault_plan reader::finish() {
  if (!has("do")) {
    refuse("do", fmt::format("is missing; known are {}", fmt::join(kind_names(), ", ")));
  }
  check_time();
  const fault_kind& kind = *plan().what;
  if (kind.needs_length() && !has("for")) {
    refuse("for", fmt::format("is missing: how long do: {} lasts", kind.name));
  }
  kind.check(given_);
  if (kind.has_target()) check_target();
  check_company();
  check_strangers();
  return plan();
}

void reader::check_time() const {
  if (has("at") && has("on")) refuse("on", "excludes at: a fault has one of them");
  if (!has("at") && !has("on")) {
    refuse("at", "is missing: when the fault begins, counted from the beginning of the window");
  }
  if (has("nth") && !has("on")) refuse("nth", "counts the requests of on, which is missing");
  if (has("answered") && !has("on")) {
    refuse("answered", "chooses among the requests of on, which is missing");
  }
  if (has("every") && has("on")) refuse("every", "goes with at, not with on");
  if (has("every") && plan().every <= plan().lasts) {
    refuse("every", fmt::format("of {} is not longer than for of {}", print_duration(plan().every),
                                print_duration(plan().lasts)));
  }
}

void reader::check_target() const {
  const fault_kind& kind = *plan().what;
  if (!has("who")) refuse("who", fmt::format("is missing: whom do: {} hits", kind.name));
  if (plan().who == "replication" && !kind.of_links()) {
    refuse("who", fmt::format("replication is a link, which do: {} cannot hit", kind.name));
  }
  if (hits_one_link(plan()) && !kind.of_links()) {
    refuse("who", fmt::format("expected a server: do: {} does not hit links", kind.name));
  }
  if (has("on") && !hits_participants(plan())) {
    refuse("on", "is for the holder and participants, whose requests it watches");
  }
}

void reader::check_company() const {
  if (!has("with")) return;
  if (!plan().what->of_links()) refuse("with", "is for do: cut, stall and delay only");
  if (hits_participants(plan()) || hits_one_link(plan()) || plan().who == "replication") {
    refuse("with", "goes with servers: it names the clients that stay on their side");
  }
}

// Rejects keys that this kind of fault does not take.
void reader::check_strangers() const {
  const fault_kind& kind = *plan().what;
  if (kind.takes("by", plan()) && !has("by")) {
    refuse("by", fmt::format("is needed by do: {}", kind.name));
  }
  for (const char* key : {"by", "data", "command", "undo"}) {
    if (!has(key) || kind.takes(key, plan())) continue;
    refuse(key, std::string_view{key} == "data" ? "is for the kill of servers only"
                                                : fmt::format("is for {} only", takers_of(key)));
  }
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
  std::map<std::uint64_t, reader> readers;
  for (const auto& [key, text] : keys) {
    const auto [number, name] = split_key(key);
    readers.try_emplace(number, number).first->second.take(name, text);
  }
  std::vector<fault_plan> plans;
  for (auto& [number, one] : readers) plans.push_back(one.finish());
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
