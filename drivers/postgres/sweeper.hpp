// A session's background task that deletes old rows.
#pragma once

#include <optional>
#include <string>

#include "drivers/postgres/route.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::postgres {

// "30s", "500ms", or "off": no value. REQUIRES: accepts_sweep().
std::optional<duration> read_sweep(const std::string& value);
bool accepts_sweep(std::string_view value);

class sweeper {
 public:
  // Deletes the rows of `table` that are older than `age` by their column taken_at, four times per
  // `age`. `way` must outlive this.
  sweeper(loop& l, route& way, const std::string& table, duration age);

  void start() { background_.spawn(sweep()); }
  // Ends when the sweeper has; at the latest at its statement's deadline.
  task<void> stop();

  traffic sent() const;

 private:
  task<void> sweep();
  task<void> sweep_once();

  loop& loop_;
  route& way_;
  std::string sql_;
  duration interval_;
  traffic sent_;
  connection link_;
  signal stopped_;
  scope background_;
};

}  // namespace lockmark::postgres
