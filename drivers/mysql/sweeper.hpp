// A task in the background of a session that deletes rows which have become too old.
#pragma once

#include <optional>
#include <string>

#include "drivers/mysql/route.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::mysql {

// "30s", "500ms", or "off", which is none. REQUIRES: accepts_sweep().
std::optional<duration> read_sweep(const std::string& value);
bool accepts_sweep(std::string_view value);

class sweeper {
 public:
  // Deletes from `table` what is older than `age` by its column taken_at, four times in that time.
  // `way` must outlive this.
  sweeper(loop& l, route& way, const instance& who, const std::string& table, duration age);

  void start() { background_.spawn(sweep()); }
  // Ends when the sweeper has; at the latest when its statement's time is over.
  task<void> stop();

  const traffic& sent() const { return sent_; }

 private:
  task<void> sweep();
  task<void> sweep_once();

  loop& loop_;
  route& way_;
  std::uint32_t instance_;
  std::string sql_;
  duration interval_;
  traffic sent_;
  connection link_;
  signal stopped_;
  scope background_;
};

}  // namespace lockmark::mysql
