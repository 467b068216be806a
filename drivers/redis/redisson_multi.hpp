// Redisson's RMultiLock: several RLocks, taken one after the other, that are one lock together.
//
// They stand in one deployment each if the target names several, else under names of their own in
// one. Each is taken for twice as long as the attempt may last, and for the real lease at the end.
// With a majority instead of all, this is RedissonRedLock (redisson_red.cpp).
//
// Source: RedissonMultiLock.tryLock() of Redisson 3.52 (unchanged in 4.7). From a server that
// cannot be reached Redisson asks again until its time is over; here the attempt ends, because a
// driver does not retry.
#pragma once

#include "drivers/redis/majority.hpp"
#include "drivers/redis/redisson_session.hpp"

namespace lockmark::redis {

class multi_session : public redisson_session {
 public:
  multi_session(loop& l, run_data& run, const instance& who);

  task<outcome<grant>> acquire(request r) override;
  task<outcome<grant>> renew(request r) override;
  task<outcome<nothing>> release(request r) override;

 protected:
  // `needed` of `parts` locks make the whole; each is waited for a share of the time.
  multi_session(loop& l, run_data& run, const instance& who, std::size_t parts, std::size_t needed,
                std::size_t shares);

 private:
  enum class step : std::uint8_t { extend, give_up };

  rlock part(const request& r, std::size_t i) const;
  task<outcome<nothing>> take_parts(request r, std::vector<vote>& held);
  task<vote> take_part(request r, std::size_t i, duration wait, duration lease);
  task<void> give_back(request r, std::vector<vote>& held);
  task<std::size_t> set_lease(request r, const std::vector<vote>& held);
  task<std::vector<vote>> ask_parts(request r, step what, const std::vector<bool>& which);
  task<void> ask_part(request r, step what, std::size_t i, vote& to);

  const std::size_t parts_;
  const std::size_t needed_;
  const std::size_t shares_;
  std::vector<std::vector<std::string>> names_;  // by request::key, by part
};

}  // namespace lockmark::redis
