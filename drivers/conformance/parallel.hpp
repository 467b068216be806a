// A test program's cases in several processes at a time: most of them wait most of the time, for
// leases, deadlines and sessions to end.
//
//   int main(int argc, char** argv) {
//     const auto server = lockmark::local::cluster::start("redis");
//     return lockmark::conformance::run_tests(argc, argv, [&] { ...add(subject)... });
//   }
//
// The servers are started once, by the parent. For cases only that leave each other's names alone:
// not for those that count what the whole server does.
#pragma once

#include <functional>

namespace lockmark::conformance {

// Initialises GoogleTest, calls `add_all`, and runs every case once, in one of `at_once` processes;
// returns what main() shall. Lines of output begin with the number of their process. In one process
// if there are arguments or GTEST_ variables of the user's, which are for somebody who looks for
// something. With GTEST_OUTPUT=xml:DIR/, process N writes DIR/PROGRAM-N.xml.
//
// REQUIRES: no threads yet, since it forks.
int run_tests(int argc, char** argv, const std::function<void()>& add_all, int at_once = 3);

}  // namespace lockmark::conformance
