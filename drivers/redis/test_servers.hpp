// For tests: real servers of one topology for all tests of a suite, and drivers for them. A test
// includes deploy/local/cluster.hpp and versions.hpp first.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "drivers/redis/redis.hpp"
#include "drivers/redis/server_probe.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::redis {

using namespace std::chrono_literals;

inline std::unique_ptr<driver> driver_for(const lock_kind& k, const std::string& url,
                                          const option_values& options = {}) {
  driver_setup setup{.target = url, .run_names = {"test", {"a", "b"}}, .options = options};
  for (const auto& o : k.options) setup.options.emplace(o.name, o.preset);
  return k.make(setup);
}

inline request by(loop& l, std::uint32_t client, duration within = 5s, std::uint32_t key = 0) {
  return {.key = key, .client = client, .lease = 30s, .deadline = l.now() + within, .grace = 1s};
}

// Each suite has its own Tag, and servers of its own.
template <class Tag>
struct servers_test : testing::Test {
  static void SetUpTestSuite() {
    servers = std::make_unique<local::cluster>(
        local::cluster::start(local::of_version_under_test(Tag::topology)));
  }
  static void TearDownTestSuite() { servers.reset(); }

  static const std::string& url() { return servers->target(); }
  // The n-th server alone.
  static std::string url_of(std::size_t n) {
    return "redis://127.0.0.1:" + std::to_string(servers->servers().at(n).port);
  }
  static std::string url_as(const std::string& login) {
    return "redis://" + login + "@" + url().substr(8);
  }

  static inline std::unique_ptr<local::cluster> servers;
  real_clock clock;
  loop l{clock};
};

}  // namespace lockmark::redis
