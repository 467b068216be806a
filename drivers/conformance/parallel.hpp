// Runs a test program's cases in several processes at a time: most cases spend most of their time
// waiting for leases, deadlines and sessions to end.
//
//   int main(int argc, char** argv) {
//     const auto server = lockmark::local::cluster::start("redis");
//     return lockmark::conformance::run_tests(argc, argv, [&] { ...add(subject)... });
//   }
//
// The servers are started once, by the parent. Only for cases that leave each other's names alone:
// not for those that count requests of the whole server.
#pragma once

#include <functional>

namespace lockmark::conformance {

// Initialises GoogleTest, calls `add_all`, and runs every case once, in one of `at_once` processes;
// returns the status for main(). Lines of output begin with the number of their process. Arguments
// or GTEST_ variables from the user, who is then looking for something in particular, make it one
// process. With GTEST_OUTPUT=xml:DIR/, process N writes DIR/PROGRAM-N.xml.
//
// REQUIRES: no threads yet, because it forks.
int run_tests(int argc, char** argv, const std::function<void()>& add_all, int at_once = 3);

}  // namespace lockmark::conformance
