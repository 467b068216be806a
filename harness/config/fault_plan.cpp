#include "harness/config/fault_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "harness/base/redact.hpp"
#include "harness/config/option.hpp"

namespace lockmark::config {
namespace {

using namespace std::chrono_literals;

constexpr duration longest_fault = 24h;
constexpr std::uint64_t greatest_nth = 1'000'000'000;
constexpr std::size_t longest_on = 512;

// Thrown by a reader that finds an error; becomes a fault_problem.
struct refusal {
  fault_problem what;
};

// The keys that each kind of fault accepts and requires.
struct kind_rule {
  std::string_view name;
  fault_kind kind;
  bool needs_for;
  bool takes_by;  // and requires it
};
constexpr std::array kinds{
    kind_rule{"pause", fault_kind::pause, true, false},
    kind_rule{"kill", fault_kind::kill, false, false},
    kind_rule{"cut", fault_kind::cut, true, false},
    kind_rule{"stall", fault_kind::stall, true, false},
    kind_rule{"delay", fault_kind::delay, true, true},
    kind_rule{"jump_clock", fault_kind::jump_clock, false, true},
    kind_rule{"fail_over", fault_kind::fail_over, false, false},
    kind_rule{"run", fault_kind::run, false, false},
};

const kind_rule& rule_of(fault_kind kind) {
  return *std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.kind == kind; });
}

// The possible targets of a fault, and how a sentence names them.
struct victim {
  std::string_view word;
  std::string_view spoken;  // empty: as written, since numbers or names follow
  bool several;
  std::size_t names = 0;  // number of names that follow
};
constexpr std::array victims{
    victim{"holder", "the holder", false},
    victim{"participant", "", false, 1},
    victim{"participants", "all participants", true},
    victim{"server", "", false, 1},
    victim{"servers", "all servers", true},
    victim{"master", "the master", false},
    victim{"replicas", "the replicas", true},
    victim{"replication", "replication", false},
    victim{"majority", "a majority of the servers", true},
    victim{"minority", "a minority of the servers", true},
    victim{"leader", "the leader", false},
    victim{"link", "", false, 2},
};

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find(' '));
}

// True if exactly `names` words follow the first one, each after one blank.
bool names_follow(std::string_view text, std::size_t names) {
  const bool tidy = text.find("  ") == text.npos && !text.ends_with(' ');
  return tidy && static_cast<std::size_t>(std::count(text.begin(), text.end(), ' ')) == names;
}

const victim* find_victim(std::string_view who) {
  const auto found = std::find_if(victims.begin(), victims.end(),
                                  [&](const auto& v) { return v.word == first_word(who); });
  return found == victims.end() ? nullptr : &*found;
}

template <class Table>
std::vector<std::string> names_in(const Table& table, std::string_view Table::value_type::*name) {
  std::vector<std::string> all;
  for (const auto& row : table) all.emplace_back(row.*name);
  return all;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

// Reads the keys of one fault.
class reader {
 public:
  explicit reader(std::uint64_t number) : prefix_(fmt::format("faults.{}.", number)) {}

  void take(const std::string& key, const std::string& text);
  fault_plan finish();

 private:
  [[noreturn]] void refuse(std::string_view key, std::string sentence) const {
    throw refusal{{fmt::format("{}{}", prefix_, key), std::move(sentence)}};
  }
  bool given(std::string_view key) const {
    return std::find(given_.begin(), given_.end(), key) != given_.end();
  }
  void read_kind(const std::string& text);
  void read_who(const std::string& text);
  void read_with(const std::string& text);
  void check_participant(std::string_view key, const std::string& text) const;
  void read_data(const std::string& text);
  void read_by(const std::string& text);
  void read_text(std::string_view key, const std::string& text, std::string& into) const;
  duration read_duration(std::string_view key, const std::string& text, duration least) const;
  void check_time() const;
  void check_length() const;
  void check_aim() const;
  void check_company() const;
  void check_strangers() const;

  struct known_key {
    std::string_view name;
    std::function<void(reader&, const std::string& text)> read;
  };
  static const std::vector<known_key>& known_keys();

  std::string prefix_;
  std::vector<std::string> given_;
  fault_plan plan_;
};

const std::vector<reader::known_key>& reader::known_keys() {
  using text = const std::string&;
  static const std::vector<known_key> all{
      {"do", [](reader& r, text t) { r.read_kind(t); }},
      {"who", [](reader& r, text t) { r.read_who(t); }},
      {"with", [](reader& r, text t) { r.read_with(t); }},
      {"at", [](reader& r, text t) { r.plan_.at = r.read_duration("at", t, 0ns); }},
      {"for", [](reader& r, text t) { r.plan_.lasts = r.read_duration("for", t, 1ms); }},
      {"every", [](reader& r, text t) { r.plan_.every = r.read_duration("every", t, 1ms); }},
      {"by", [](reader& r, text t) { r.read_by(t); }},
      {"on", [](reader& r, text t) { r.read_text("on", t, r.plan_.on); }},
      {"nth",
       [](reader& r, text t) {
         const auto n = parse_count(t);
         if (!n || *n == 0 || *n > greatest_nth) {
           r.refuse("nth", expected("a whole number from 1 to 1000000000", t).sentence);
         }
         r.plan_.nth = *n;
       }},
      {"answered", [](reader& r, text t) { r.read_text("answered", t, r.plan_.answered); }},
      {"data", [](reader& r, text t) { r.read_data(t); }},
      {"command", [](reader& r, text t) { r.read_text("command", t, r.plan_.command); }},
      {"undo", [](reader& r, text t) { r.read_text("undo", t, r.plan_.undo); }},
  };
  return all;
}

void reader::take(const std::string& key, const std::string& text) {
  for (const known_key& known : known_keys()) {
    if (known.name != key) continue;
    given_.push_back(key);
    return known.read(*this, text);
  }
  std::vector<std::string> names;
  for (const known_key& known : known_keys()) names.emplace_back(known.name);
  refuse(key, fmt::format("is an unknown key of a fault; the nearest known key is {}",
                          nearest_name(key, names)));
}

void reader::read_kind(const std::string& text) {
  for (const kind_rule& row : kinds) {
    if (row.name != text) continue;
    plan_.what = row.kind;
    return;
  }
  const auto names = names_in(kinds, &kind_rule::name);
  refuse("do",
         expected(joined(names), text, fmt::format("is nearest to {}", nearest_name(text, names)))
             .sentence);
}

void reader::read_who(const std::string& text) {
  const victim* found = find_victim(text);
  const auto names = names_in(victims, &victim::word);
  if (found == nullptr) {
    refuse("who", expected(joined(names), text,
                           fmt::format("is nearest to {}", nearest_name(first_word(text), names)))
                      .sentence);
  }
  if (!names_follow(text, found->names)) {
    constexpr std::array endings{"' alone", " 1'", " 1 2'"};
    const auto form = fmt::format("'{}{}", found->word, endings.at(found->names));
    refuse("who", expected(form, text).sentence);
  }
  check_participant("who", text);
  plan_.who = text;
}

void reader::read_with(const std::string& text) {
  const bool known = text == "holder" || text == "participants" || text.starts_with("participant ");
  if (!known || !names_follow(text, find_victim(text)->names)) {
    refuse("with", expected("holder, 'participant 1' or participants", text).sentence);
  }
  check_participant("with", text);
  plan_.with = text;
}

void reader::check_participant(std::string_view key, const std::string& text) const {
  if (first_word(text) != "participant") return;
  const auto number = parse_count(text.substr(text.find(' ') + 1));
  if (!number || *number == 0) {
    refuse(key, expected("'participant' and a number from 1", text).sentence);
  }
}

void reader::read_data(const std::string& text) {
  if (text != "kept" && text != "lost") {
    refuse("data", expected("kept or lost", text).sentence);
  }
  plan_.keeps_data = text == "kept";
}

// The only duration that may be negative: a clock can be set back.
void reader::read_by(const std::string& text) {
  const bool back = text.starts_with('-');
  const duration size = read_duration("by", back ? text.substr(1) : text, 1ns);
  plan_.by = back ? -size : size;
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
  const auto value = parse_duration(text);
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
  if (!given("do")) {
    refuse("do",
           fmt::format("is missing; known are {}", joined(names_in(kinds, &kind_rule::name))));
  }
  check_time();
  check_length();
  check_aim();
  check_company();
  check_strangers();
  return plan_;
}

void reader::check_time() const {
  if (given("at") && given("on")) refuse("on", "excludes at: a fault has one of them");
  if (!given("at") && !given("on")) {
    refuse("at", "is missing: when the fault begins, counted from the beginning of the window");
  }
  if (given("nth") && !given("on")) refuse("nth", "counts the requests of on, which is missing");
  if (given("answered") && !given("on")) {
    refuse("answered", "chooses among the requests of on, which is missing");
  }
  if (given("every") && given("on")) refuse("every", "goes with at, not with on");
  if (given("every") && plan_.every <= plan_.lasts) {
    refuse("every", fmt::format("of {} is not longer than for of {}", print_duration(plan_.every),
                                print_duration(plan_.lasts)));
  }
}

void reader::check_length() const {
  const kind_rule& rule = rule_of(plan_.what);
  if (rule.needs_for && !given("for")) {
    refuse("for", fmt::format("is missing: how long do: {} lasts", rule.name));
  }
  const bool runs = plan_.what == fault_kind::run;
  if (runs && given("undo") && !given("for")) refuse("for", "is missing: when undo is run");
  if (plan_.what == fault_kind::fail_over && given("for")) {
    refuse("for", "means nothing to do: fail_over: the new master stays");
  }
  if (plan_.what == fault_kind::kill && hits_participants(plan_) && given("for")) {
    refuse("for", "means nothing here: a participant that was killed is not started again");
  }
}

void reader::check_aim() const {
  const kind_rule& rule = rule_of(plan_.what);
  if (plan_.what == fault_kind::run) {
    if (given("who")) refuse("who", "means nothing to do: run, whose command knows whom it hits");
    if (given("on")) refuse("on", "means nothing to do: run; say at");
    if (!given("command")) refuse("command", "is missing: what do: run runs, by /bin/sh");
    return;
  }
  if (!given("who")) refuse("who", fmt::format("is missing: whom do: {} hits", rule.name));
  if (plan_.what == fault_kind::fail_over && plan_.who != "master") {
    refuse("who", expected("master, which a replica follows", plan_.who).sentence);
  }
  const bool processes = plan_.what == fault_kind::kill || plan_.what == fault_kind::pause;
  if (plan_.who == "replication" && (processes || plan_.what == fault_kind::jump_clock)) {
    refuse("who", fmt::format("replication is a link, which do: {} cannot hit", rule.name));
  }
  if (hits_one_link(plan_) && !is_of_links(plan_.what)) {
    refuse("who", fmt::format("expected a server: do: {} does not hit links", rule.name));
  }
  if (plan_.what == fault_kind::jump_clock && hits_participants(plan_)) {
    refuse("who", "expected servers: lockmark measures with the clock of its participants");
  }
  if (given("on") && !hits_participants(plan_)) {
    refuse("on", "is for the holder and participants, whose requests it watches");
  }
}

void reader::check_company() const {
  if (!given("with")) return;
  if (!is_of_links(plan_.what)) refuse("with", "is for do: cut, stall and delay only");
  if (hits_participants(plan_) || hits_one_link(plan_) || plan_.who == "replication") {
    refuse("with", "goes with servers: it names the clients that stay on their side");
  }
}

// Rejects keys that this kind of fault does not take.
void reader::check_strangers() const {
  const kind_rule& rule = rule_of(plan_.what);
  const bool kills_server = plan_.what == fault_kind::kill && !hits_participants(plan_);
  if (rule.takes_by && !given("by")) refuse("by", fmt::format("is needed by do: {}", rule.name));
  if (!rule.takes_by && given("by")) refuse("by", "is for do: delay and do: jump_clock only");
  if (plan_.what == fault_kind::delay && plan_.by < 0ns) {
    refuse("by", "expected a delay, which cannot be negative");
  }
  if (given("data") && !kills_server) refuse("data", "is for the kill of servers only");
  for (const char* key : {"command", "undo"}) {
    if (given(key) && plan_.what != fault_kind::run) refuse(key, "is for do: run only");
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

// "1.5s" as "1.5 s".
std::string spoken(duration d) {
  std::string text = print_duration(d);
  const auto unit = text.find_first_not_of("0123456789.");
  return text.insert(unit, " ");
}

std::string spoken_victim(const std::string& who) {
  const victim* found = find_victim(who);
  return std::string{found == nullptr || found->spoken.empty() ? who : found->spoken};
}

std::string spoken_aim(const fault_plan& plan) {
  if (hits_one_link(plan)) {
    const auto second = plan.who.rfind(' ');
    const auto first = plan.who.find(' ') + 1;
    return fmt::format("the link between {} and {}", plan.who.substr(first, second - first),
                       plan.who.substr(second + 1));
  }
  const std::string whom = spoken_victim(plan.who);
  if (plan.with.empty()) return whom;
  return fmt::format("{} and {}", whom, spoken_victim(plan.with));
}

std::string describe_kill(const fault_plan& plan, std::string_view was) {
  std::string text = fmt::format("{} {} killed", spoken_aim(plan), was);
  if (plan.lasts == 0ns) return text;
  return fmt::format("{} and came back {} {} data after {}", text,
                     plan.keeps_data ? "with" : "without", was == "was" ? "its" : "their",
                     spoken(plan.lasts));
}

std::string describe_run(const fault_plan& plan) {
  std::string text = fmt::format("'{}' was run", shown_command(plan.command));
  if (plan.undo.empty()) return text;
  return fmt::format("{}, and '{}' after {}", text, shown_command(plan.undo), spoken(plan.lasts));
}

}  // namespace

std::vector<fault_plan> read_faults(const std::map<std::string, std::string>& keys) {
  try {
    return read(keys);
  } catch (const refusal& r) {
    throw config_error(fmt::format("{}: {}", r.what.key, r.what.sentence));
  }
}

std::optional<fault_problem> find_fault_problem(const std::map<std::string, std::string>& keys) {
  try {
    read(keys);
  } catch (const refusal& r) {
    return r.what;
  }
  return std::nullopt;
}

bool is_of_links(fault_kind kind) {
  return kind == fault_kind::cut || kind == fault_kind::stall || kind == fault_kind::delay;
}

bool hits_one_link(const fault_plan& plan) {
  return first_word(plan.who) == "link";
}

bool hits_participants(const fault_plan& plan) {
  const std::string_view word = first_word(plan.who);
  return word == "holder" || word.starts_with("participant");
}

std::string name_of(const fault_plan& plan) {
  if (plan.what == fault_kind::run) return "run_command";
  return fmt::format("{}_{}", rule_of(plan.what).name, first_word(plan.who));
}

std::string describe(const fault_plan& plan) {
  const victim* found = find_victim(plan.who);
  const bool several = (found != nullptr && found->several) || !plan.with.empty();
  const std::string_view was = several ? "were" : "was";
  const std::string whom = spoken_aim(plan);
  const bool link = hits_one_link(plan);
  const std::string lasting = plan.lasts == 0ns ? "" : fmt::format(" for {}", spoken(plan.lasts));
  switch (plan.what) {
    case fault_kind::pause: return fmt::format("{} {} paused{}", whom, was, lasting);
    case fault_kind::kill: return describe_kill(plan, was);
    case fault_kind::cut:
      return fmt::format("{} {} cut{}{}", whom, was, link ? "" : " off", lasting);
    case fault_kind::stall:
      return fmt::format("nothing got through {} {}{}", link ? "over" : "to", whom, lasting);
    case fault_kind::delay:
      return fmt::format("every byte {} {} came {} late{}", link ? "over" : "to and from", whom,
                         spoken(plan.by), lasting);
    case fault_kind::jump_clock: {
      const bool back = plan.by < 0ns;
      return fmt::format("the clock of {} jumped {} {}{}", whom, spoken(back ? -plan.by : plan.by),
                         back ? "back" : "ahead", lasting);
    }
    case fault_kind::fail_over: return fmt::format("{} was replaced by a replica", whom);
    case fault_kind::run: return describe_run(plan);
  }
  return whom;
}

}  // namespace lockmark::config
