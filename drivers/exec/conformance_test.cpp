// The Python adapter of README.md, extracted from there, through the conformance suite on a real
// Redis.
#include "drivers/conformance/conformance.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "deploy/local/cluster.hpp"
#include "drivers/exec/driver.hpp"
#include "drivers/exec/exec.hpp"
#include "drivers/exec/readme.hpp"

namespace {

using namespace std::chrono_literals;

// The adapter's path; global because a lock_kind makes its driver by a plain function.
std::string& adapter() {
  static std::string path;
  return path;
}

std::unique_ptr<lockmark::driver> make(const lockmark::driver_setup& setup) {
  return lockmark::exec::make_driver(
      setup, {"exec/lock", {"python3", adapter()}, {"redis"}, lockmark::feature::lease});
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const lockmark::exec::readme_program python{"python", "adapter.py"};
  adapter() = python.path();
  const auto server = lockmark::local::cluster::start("redis");
  lockmark::conformance::subject s{.kind = lockmark::exec::kinds().front()};
  s.target = server.target();
  s.label = "python";
  s.kind.has = lockmark::feature::lease | lockmark::feature::renewable;
  s.kind.make = make;
  lockmark::conformance::add(s);
  return RUN_ALL_TESTS();
}
