#include "drivers/postgres/lock_session.hpp"

#include "drivers/postgres/errors.hpp"
#include "drivers/postgres/tables.hpp"

namespace lockmark::postgres {

lock_session::lock_session(const opening& o) : loop_(o.l), pool_(o.l, o.way, o.hello, o.who) {
  for (std::uint32_t client = 0; client < o.who.clients; ++client) {
    owners_.push_back(owner_name(o.who.id, client));
  }
}

task<void> lock_session::close() {
  pool_.quit();
  co_return;
}

task<outcome<answer>> lock_session::ask(request r, step s, std::string_view doing) {
  if (loop_.now() >= r.deadline) co_return refusal::unavailable;  // too late to ask
  connection* c = pool_.at_hand(r.client);
  if (c == nullptr) {
    const outcome<connection*> lent = co_await pool_.borrow(r.client, r.deadline);
    if (!lent.done()) co_return lent.without_value<answer>();
    c = lent.value();
  }
  c->send(s);
  co_await c->ended(r.answer_by());
  answer a = c->answered();
  if (is_for_another_server(a.sqlstate) || is_of_a_spoilt_session(a.sqlstate)) c->drop();
  pool_.give_back(r.client, *c);
  if (a.unknown) co_return *a.unknown;
  if (a.done()) co_return outcome<answer>{std::move(a)};
  if (is_permanent(a.sqlstate)) throw no_server(sentence(c->where(), doing, a));
  if (is_conflict(a.sqlstate)) co_return refusal::busy;
  if (is_doubtful(a.sqlstate)) co_return doubt::connection_lost;
  co_return refusal::unavailable;
}

task<outcome<nothing>> lock_session::change(request r, step s, std::string_view doing,
                                            refusal none) {
  const outcome<answer> end = co_await ask(r, s, doing);
  if (end.refused(refusal::busy)) co_return refusal::unavailable;
  if (!end.done()) co_return end.without_value<nothing>();
  if (end.value().affected() == 0) co_return none;
  co_return nothing{};
}

}  // namespace lockmark::postgres
