#include "drivers/mysql/table_session.hpp"

#include "drivers/mysql/errors.hpp"

namespace lockmark::mysql {

task<void> table_session::close() {
  pool_.quit();
  co_return;
}

task<outcome<answer>> table_session::ask(request r, std::string sql, std::string_view doing) {
  if (loop_.now() >= r.deadline) co_return refusal::unavailable;  // too late to ask
  const outcome<connection*> lent = co_await pool_.borrow(r.client, r.deadline);
  if (!lent.done()) co_return lent.without_value<answer>();
  connection& c = *lent.value();
  answer a = co_await c.query(std::move(sql), r.answer_by());
  if (is_for_another_server(a.error)) c.drop();
  pool_.give_back(r.client, c);
  if (a.unknown) co_return *a.unknown;
  if (a.done() || a.error == error_number::duplicate_key) co_return a;
  if (is_permanent(a.error)) throw no_server(sentence(c.where(), doing, a));
  if (is_conflict(a.error)) co_return refusal::busy;
  if (a.error == error_number::error_during_commit) co_return doubt::connection_lost;
  co_return refusal::unavailable;
}

task<outcome<nothing>> table_session::change(request r, std::string sql, std::string_view doing,
                                             refusal none, refusal busy) {
  const outcome<answer> end = co_await ask(r, std::move(sql), doing);
  if (end.refused(refusal::busy)) co_return busy;
  if (!end.done()) co_return end.without_value<nothing>();
  if (end.value().affected == 0) co_return none;
  co_return nothing{};
}

}  // namespace lockmark::mysql
