// One instance: a child process, and its clients' calls to it.
#pragma once

#include <memory>
#include <unordered_map>

#include "drivers/exec/link.hpp"

namespace lockmark::exec {

class exec_session final : public session {
 public:
  // `talk` has been greeted. `renews`: the client supports renew.
  exec_session(loop& l, std::unique_ptr<link> talk, bool renews);

  task<outcome<grant>> acquire(request r) override;
  // Throws usage_error if the client does not renew.
  task<outcome<grant>> renew(request r) override;
  task<outcome<nothing>> release(request r) override;
  bool alive() const override { return link_->alive(); }
  task<void> close() override;
  traffic sent() const override { return sent_; }

 private:
  task<outcome<grant>> call(operation op, request r);
  void give_back(const answer& late);

  loop& loop_;
  std::unique_ptr<link> link_;
  const bool renews_;
  std::uint64_t last_id_ = 0;
  traffic sent_;
  // Acquires that ended in doubt, by id: if one is granted after all, it is released.
  std::unordered_map<std::uint64_t, request> doubtful_;
};

}  // namespace lockmark::exec
