#include "harness/check/edn.hpp"

#include <fmt/format.h>

#include <iterator>

namespace lockmark::check {

edn_history::edn_history(std::uint32_t clients, bool has_tokens)
    : clients_(clients), has_tokens_(has_tokens), states_(clients) {
  for (std::uint32_t c = 0; c < clients; ++c) states_[c].process = c;
}

void edn_history::append(const event& e, std::string& to) {
  client_state& who = states_[e.client];
  switch (e.kind) {
    case event_kind::began: who.token = 0; return write(e, "invoke", "acquire", to);
    case event_kind::granted: who.token = e.token; return write(e, "ok", "acquire", to);
    case event_kind::ended: return end(e, "acquire", to);
    case event_kind::released: return write(e, "invoke", "release", to);
    case event_kind::answered: return end(e, "release", to);
    case event_kind::died:
      // The end of an unreleased hold: like a release at an unknown time.
      write(e, "invoke", "release", to);
      write(e, "info", "release", to);
      who.process += clients_;
      return;
    case event_kind::committed:
    case event_kind::doubtful:
    case event_kind::refused:
    case event_kind::promised: break;
  }
}

// Ends an operation; the event's token is its answer.
void edn_history::end(const event& e, const char* function, std::string& to) {
  const auto how = static_cast<answer>(e.token);
  const bool in_doubt = how == answer::in_doubt;
  write(e, in_doubt ? "info" : how == answer::done ? "ok" : "fail", function, to);
  if (in_doubt) states_[e.client].process += clients_;
}

void edn_history::write(const event& e, const char* type, const char* function, std::string& to) {
  const client_state& who = states_[e.client];
  if (index_ == 0) first_ns_ = e.at_ns;
  const bool known = has_tokens_ && who.token != 0;
  fmt::format_to(std::back_inserter(to),
                 "{{:type :{}, :f :{}, :value [{} {}], :process {}, :time {}, :index {}}}\n", type,
                 function, e.key, known ? fmt::format("{}", who.token) : "nil", who.process,
                 e.at_ns - first_ns_, index_++);
}

}  // namespace lockmark::check
