#include "harness/agents/event_codec.hpp"

#include <algorithm>
#include <stdexcept>

namespace lockmark::agents {
namespace {

using check::event;
using check::event_kind;

constexpr std::uint32_t kinds = 15;  // the lowest four bits
constexpr std::uint32_t lasted = 16, shared = 32, cut = 64;

std::uint32_t kind_of(const event& e) {
  return static_cast<std::uint32_t>(e.kind) | (e.lasted ? lasted : 0) | (e.shared ? shared : 0) |
         (e.cut ? cut : 0);
}

// Few events have one. REQUIRES: the other columns are complete.
void append_pipes(std::span<const event> events, wire::Events& to) {
  const auto has_none = [](const event& e) { return e.pipe_ns == 0; };
  if (to.pipe_ns_size() == 0 && std::ranges::all_of(events, has_none)) return;
  to.mutable_pipe_ns()->Resize(to.after_ns_size() - static_cast<int>(events.size()), 0);
  for (const event& e : events) to.add_pipe_ns(e.pipe_ns);
}

}  // namespace

void append(std::span<const event> events, wire::Events& to) {
  std::int64_t before_ns = 0;
  for (const std::int64_t after : to.after_ns()) before_ns += after;
  const int size = to.after_ns_size() + static_cast<int>(events.size());
  to.mutable_after_ns()->Reserve(size);
  to.mutable_token()->Reserve(size);
  to.mutable_key()->Reserve(size);
  to.mutable_client()->Reserve(size);
  to.mutable_kind()->Reserve(size);
  for (const event& e : events) {
    // The time in a promise is relative to its event: a small number, whatever the clock.
    const auto at = static_cast<std::uint64_t>(e.at_ns);
    to.add_after_ns(e.at_ns - before_ns);
    to.add_token(e.kind == event_kind::promised ? e.token - at : e.token);
    to.add_key(e.key);
    to.add_client(e.client);
    to.add_kind(kind_of(e));
    before_ns = e.at_ns;
  }
  append_pipes(events, to);
}

std::vector<event> read_events(const wire::Events& from,
                               const std::function<std::int64_t(std::int64_t)>& ours) {
  const int size = from.after_ns_size();
  const bool has_pipes = from.pipe_ns_size() > 0;
  for (const int other : {from.token_size(), from.key_size(), from.client_size(), from.kind_size(),
                          has_pipes ? from.pipe_ns_size() : size}) {
    if (other != size) throw std::runtime_error("its events have columns of different lengths");
  }
  std::vector<event> all;
  all.reserve(static_cast<std::size_t>(size));
  std::uint64_t at = 0;  // a sum that may wrap, as a hostile one would
  for (int i = 0; i < size; ++i) {
    at += static_cast<std::uint64_t>(from.after_ns(i));
    const std::uint32_t kind = from.kind(i);
    if ((kind & kinds) > static_cast<std::uint32_t>(event_kind::promised)) {
      throw std::runtime_error("its events are of a kind that there is not");
    }
    event e;
    e.at_ns = ours(static_cast<std::int64_t>(at));
    e.kind = static_cast<event_kind>(kind & kinds);
    e.token = from.token(i);
    if (e.kind == event_kind::promised) e.token += static_cast<std::uint64_t>(e.at_ns);
    e.key = from.key(i);
    e.client = from.client(i);
    e.lasted = (kind & lasted) != 0;
    e.shared = (kind & shared) != 0;
    e.cut = (kind & cut) != 0;
    if (has_pipes) e.pipe_ns = from.pipe_ns(i);
    all.push_back(e);
  }
  return all;
}

}  // namespace lockmark::agents
