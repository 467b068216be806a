#include "harness/faults/proxy/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

namespace lockmark::faults {
namespace {

using nlohmann::json;

// In the order of command::kind.
constexpr std::array<std::string_view, 4> kinds{"open", "set", "await", "go"};

// Reads the members of one line; keeps the first error.
class reader {
 public:
  reader(const json& line, command& into) : line_(line), into_(into) {}

  std::string text(const char* name) {
    const auto found = line_.find(name);
    if (found == line_.end()) return {};
    if (const auto* const value = found->get_ptr<const std::string*>()) return *value;
    refuse(fmt::format("'{}' is no text", name));
    return {};
  }

  std::uint64_t number(const char* name, std::uint64_t otherwise, std::uint64_t most) {
    const auto found = line_.find(name);
    if (found == line_.end()) return otherwise;
    return number(name, *found, most);
  }

  std::vector<std::size_t> numbers(const char* name) {
    std::vector<std::size_t> all;
    const auto found = line_.find(name);
    if (found == line_.end() || !found->is_array()) {
      refuse(fmt::format("'{}' is no list", name));
      return all;
    }
    for (const json& each : *found) all.push_back(number(name, each, SIZE_MAX));
    return all;
  }

  // A value of an enumeration, whose names are known in their order.
  template <class Value>
  Value named(const char* name, const char* what, std::span<const std::string_view> known) {
    const std::string wanted = text(name);
    const auto found = std::ranges::find(known, wanted);
    if (found != known.end()) return static_cast<Value>(found - known.begin());
    refuse(fmt::format("there is no {} '{}'", what, wanted));
    return Value{};
  }

  void refuse(std::string why) {
    if (into_.wrong.empty()) into_.wrong = std::move(why);
  }

 private:
  std::uint64_t number(const char* name, const json& value, std::uint64_t most) {
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= most;
    if (!fits) refuse(fmt::format("'{}' is no whole number from 0 to {}", name, most));
    return fits ? value.get<std::uint64_t>() : 0;
  }

  const json& line_;
  command& into_;
};

}  // namespace

command read_command(std::string_view line) {
  constexpr std::uint64_t last_port = std::numeric_limits<std::uint16_t>::max();
  constexpr std::uint64_t longest_delay_ns = 24ULL * 3600 * 1'000'000'000;
  command c;
  const json j = json::parse(line, nullptr, false);
  if (!j.is_object()) {
    c.wrong = "this is no command";
    return c;
  }
  reader from{j, c};
  const auto delay = [&from](const char* name) {
    return duration{static_cast<std::int64_t>(from.number(name, 0, longest_delay_ns))};
  };
  if (j.contains("id")) c.id = from.number("id", 0, UINT64_MAX);
  c.what = from.named<command::kind>("do", "command", kinds);
  if (c.what == command::kind::open) {
    c.host = from.text("host");
    c.port = static_cast<std::uint16_t>(from.number("port", 0, last_port));
    c.listen = static_cast<std::uint16_t>(from.number("listen", 0, last_port));
    c.by = delay("by_ns");
    c.jitter = delay("jitter_ns");
    if (c.host.empty() || c.port == 0) from.refuse("there is no server to open a link to");
    return c;
  }
  c.links = from.numbers("links");
  if (c.what == command::kind::set) {
    c.mode = from.named<link_mode>("mode", "mode of a link", link_mode_names);
    c.by = delay("by_ns");
  } else if (c.what == command::kind::await) {
    c.word = from.text("word");
    c.nth = from.number("nth", 1, UINT64_MAX);
    c.answer = from.text("answer");
    if (c.word.empty()) from.refuse("there is no word to wait for");
  }
  return c;
}

}  // namespace lockmark::faults
