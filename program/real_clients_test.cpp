// What the program says of real clients, beside the locks of ours that speak the same protocol.
#include <gtest/gtest.h>

#include <algorithm>

#include "drivers/exec/pairs.hpp"
#include "program/catalogue.hpp"

namespace lockmark::cli {
namespace {

// A server frees the lock of a dead client by the same rule, whoever wrote the client.
TEST(real_clients, lose_their_locks_as_ours_do) {
  const catalogue known;
  const auto features_of = [&known](std::string_view name) {
    return std::ranges::find(known.locks(), name, &lock_kind::name)->has;
  };
  for (const exec::pair& p : exec::pairs) {
    const features real = features_of(p.real.lock), ours = features_of(p.ours.lock);
    for (const feature f : {feature::lease, feature::session_bound, feature::session_timeout}) {
      EXPECT_EQ(real.has(f), ours.has(f)) << p.real.lock << ": " << to_string(f);
    }
  }
}

}  // namespace
}  // namespace lockmark::cli
