#include "drivers/redis/majority.hpp"

namespace lockmark::redis {

answers::answers(const std::vector<vote>& all) {
  for (const vote v : all) {
    switch (v) {
      case vote::yes: ++yes; break;
      case vote::no: ++no; break;
      case vote::unasked: ++unasked; break;
      case vote::late: why = doubt::deadline; [[fallthrough]];
      case vote::lost: ++unknown; break;
    }
  }
}

outcome<nothing> ending_of(const answers& a, std::size_t needed) {
  if (a.yes >= needed) return nothing{};
  const bool cannot_be_had = a.all() - a.no < needed;
  if (cannot_be_had) return refusal::not_owner;
  if (a.unknown > 0) return a.why;
  return refusal::unavailable;
}

std::size_t left_over(const std::vector<vote>& taking, const std::vector<vote>& undoing) {
  std::size_t left = 0;
  for (std::size_t i = 0; i < taking.size(); ++i) {
    const bool is_gone = undoing[i] == vote::yes || undoing[i] == vote::no;
    if (may_be_taken(taking[i]) && !is_gone) ++left;
  }
  return left;
}

outcome<grant> ending_of_failure(const answers& taking, std::size_t left, std::size_t needed) {
  if (keeps_others_out(left, taking.all(), needed)) return taking.why;
  const bool too_late = taking.yes >= needed;
  const bool too_few = taking.yes + taking.no < needed;
  if (too_late || too_few) return refusal::unavailable;
  return refusal::busy;
}

}  // namespace lockmark::redis
