#include "drivers/faulty/faulty.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <stdexcept>

#include "drivers/memory/memory.hpp"

namespace lockmark::faulty {
namespace {

// All of `text` as a number that is not negative.
template <class T>
bool read_number(std::string_view text, T& value) {
  T read{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, read);
  if (error != std::errc{} || stopped != end || !(read >= T{})) return false;
  value = read;
  return true;
}

bool is_duration(std::string_view text) {
  duration ignored{};
  return read_duration(text, ignored);
}
bool is_count(std::string_view text) {
  std::uint64_t ignored = 0;
  return read_number(text, ignored);
}
bool is_share(std::string_view text) {
  double share = 0;
  return read_number(text, share) && share <= 1;
}

bool is_call(std::string_view text) {
  return text == "none" || text == "prepare" || text == "open" || text == "acquire" ||
         text == "renew" || text == "release" || text == "close" || text == "counters" ||
         text == "wipe";
}
bool is_way_to_break(std::string_view text) {
  return text == "throws" || text == "hangs";
}
bool is_instance(std::string_view text) {
  return text == "all" || is_count(text);
}

constexpr std::string_view durations = "a duration as 250ms; units us, ms, s; 0 is off";
constexpr std::string_view counts = "a whole number; 0 is off";

const lock_option delay{"delay", durations, "0", "waits before each call", is_duration};
const lock_option lost_replies{"lost_replies", "0 to 1", "0",
                               "share of calls that go through and end in doubt", is_share};
const lock_option stall_at{"stall_at", durations, "0", "when the stall begins, since opening",
                           is_duration};
const lock_option stall_for{"stall_for", durations, "0", "how long all calls then wait",
                            is_duration};
const lock_option two_holders{"two_holders", counts, "0",
                              "each n-th acquire that has to wait or to fail is granted", is_count};
const lock_option stale_token{"stale_token", counts, "0",
                              "each n-th grant repeats the token before", is_count};
const lock_option lost_updates{"lost_updates", counts, "0",
                               "each n-th conflict is reported as committed", is_count};
const lock_option seed{"seed", "a whole number", "1", "of the lost replies", is_count};

const lock_option breaks_in{"breaks_in",
                            "none, prepare, open, acquire, renew, release, close, counters or wipe",
                            "none", "the call that breaks the contract of drivers", is_call};
const lock_option breaks_from{"breaks_from", "a whole number, from 1", "1",
                              "which of these calls is the first to do so", is_count};
const lock_option breaks_how{"breaks_how", "throws or hangs", "throws",
                             "whether it throws, or ends after two minutes", is_way_to_break};
const lock_option breaks_instance{"breaks_instance", "all, or an instance's number from 0", "all",
                                  "whose calls they are", is_instance};

// The options are checked already, so an unreadable one is this file's mistake.
template <class Read, class T>
void take(const driver_setup& setup, const lock_option& o, Read read, T& value) {
  const auto given = setup.options.find(o.name);
  if (given == setup.options.end()) return;
  if (!read(given->second, value)) {
    throw usage_error("{}: '{}' should be {}", o.name, given->second, o.values);
  }
}

faults read_faults(const driver_setup& setup) {
  faults f;
  take(setup, delay, read_duration, f.delay);
  take(setup, lost_replies, read_number<double>, f.lost_replies);
  take(setup, stall_at, read_duration, f.stall_at);
  take(setup, stall_for, read_duration, f.stall_for);
  take(setup, two_holders, read_number<std::uint64_t>, f.two_holders);
  take(setup, stale_token, read_number<std::uint64_t>, f.stale_token);
  take(setup, lost_updates, read_number<std::uint64_t>, f.lost_updates);
  take(setup, seed, read_number<std::uint64_t>, f.seed);
  const auto given = [&](const lock_option& o) {
    const auto found = setup.options.find(o.name);
    return found == setup.options.end() ? std::string(o.preset) : found->second;
  };
  if (const std::string call = given(breaks_in); call != "none") f.breaks_in = call;
  take(setup, breaks_from, read_number<std::uint64_t>, f.breaks_from);
  f.hangs = given(breaks_how) == "hangs";
  if (given(breaks_instance) != "all") {
    take(setup, breaks_instance, read_number<std::uint64_t>, f.breaks_instance.emplace());
  }
  return f;
}

const std::vector<lock_option>& all_options() {
  static const std::vector<lock_option> all{delay,       lost_replies, stall_at,   stall_for,
                                            two_holders, stale_token,  seed,       lost_updates,
                                            breaks_in,   breaks_from,  breaks_how, breaks_instance};
  return all;
}

// The options that make sense for the lock.
std::vector<lock_option> options_for(const lock_kind& kind) {
  const bool optimistic = kind.has.has(feature::optimistic);
  std::vector<lock_option> some = all_options();
  std::erase_if(some, [&](const lock_option& o) {
    if (optimistic) return o.name == two_holders.name || o.name == stale_token.name;
    return o.name == lost_updates.name;
  });
  return some;
}

lock_kind memory_version(std::string_view inside, std::string_view name) {
  for (const lock_kind& kind : memory::kinds()) {
    if (kind.name == inside) return version_of(kind, name);
  }
  throw std::logic_error(fmt::format("there is no lock '{}'", inside));
}

}  // namespace

bool read_duration(std::string_view text, duration& d) {
  struct unit {
    std::string_view name;
    std::int64_t ns;
  };
  if (text == "0") {
    d = {};
    return true;
  }
  for (const unit u : {unit{"us", 1'000}, unit{"ms", 1'000'000}, unit{"s", 1'000'000'000}}) {
    if (!text.ends_with(u.name)) continue;
    std::int64_t count = 0;
    if (!read_number(text.substr(0, text.size() - u.name.size()), count)) continue;
    if (count > std::numeric_limits<std::int64_t>::max() / 4 / u.ns) return false;
    d = duration{count * u.ns};
    return true;
  }
  return false;
}

lock_kind version_of(const lock_kind& inside, std::string_view name) {
  lock_kind worse = inside;
  worse.name = name;
  worse.summary = "another lock with faults on purpose, to try the checks";
  worse.promises = safety::none;
  const std::vector<lock_option> more = options_for(inside);
  worse.options.insert(worse.options.end(), more.begin(), more.end());
  worse.make = [make = inside.make, most = inside.holders, more](const driver_setup& s) {
    driver_setup own = s;
    for (const lock_option& o : more) own.options.erase(std::string(o.name));
    const std::uint32_t holders = most == nullptr ? 1 : most(own.options);
    return wrap(make(own), s.run_names.keys.size(), read_faults(s), holders);
  };
  return worse;
}

std::vector<lock_kind> kinds() {
  lock_kind lock = memory_version("memory/lock", "faulty/lock");
  lock.summary = "memory/lock with faults on purpose, to try the checks";
  lock_kind optimistic = memory_version("memory/optimistic", "faulty/optimistic");
  optimistic.summary = "memory/optimistic with faults on purpose, to try the checks";
  return {lock, optimistic};
}

}  // namespace lockmark::faulty
