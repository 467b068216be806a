// Every rule can fail: bad snippets, each beside the nearest good one.
#include "harness/tidy/rules.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockmark::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> texts(const std::vector<violation>& found) {
  std::vector<std::string> result;
  for (const violation& v : found) result.push_back(text_of(v));
  return result;
}

std::vector<std::string> includes(std::string_view path, const std::string& included) {
  return texts(check_includes(path, fmt::format("// About.\n#include \"{}\"\n", included)));
}

std::vector<std::string> code(std::string_view path, const std::string& text) {
  return texts(check_code(path, text));
}

std::string times(int n, const std::string& line) {
  std::string text;
  for (int i = 0; i < n; ++i) text += line;
  return text;
}

// Only program/ knows drivers, workloads and servers; tests may use those that need no server.
TEST(includes, harness_knows_no_backend) {
  EXPECT_THAT(includes("harness/run/worker.cpp", "drivers/redis/redis.hpp"),
              ElementsAre(HasSubstr("harness/run/worker.cpp:2: includes drivers/redis/redis.hpp; "
                                    "the harness knows no backend")));
  EXPECT_THAT(includes("harness/run/worker.cpp", "drivers/memory/memory.hpp"), SizeIs(1));
  EXPECT_THAT(includes("harness/run/worker.cpp", "workloads/mutex.hpp"), SizeIs(1));
  EXPECT_THAT(includes("harness/run/run_test.cpp", "deploy/local/cluster.hpp"), SizeIs(1));
  EXPECT_THAT(includes("harness/run/run_test.cpp", "drivers/memory/memory.hpp"), IsEmpty());
  EXPECT_THAT(includes("program/catalogue.cpp", "drivers/redis/redis.hpp"), IsEmpty());
}

// Code that computes does not wait.
TEST(includes, calculating_parts_know_no_loop) {
  for (const char* part : {"time", "pace", "stats", "check", "config"}) {
    const std::string path = fmt::format("harness/{}/x.cpp", part);
    EXPECT_THAT(includes(path, "harness/async/loop.hpp"), SizeIs(1)) << path;
    EXPECT_THAT(includes(path, "harness/driver.hpp"), SizeIs(1)) << path;
    EXPECT_THAT(includes(path, "asio/post.hpp"), SizeIs(1)) << path;
    EXPECT_THAT(includes(path, "harness/stats/random.hpp"), IsEmpty()) << path;
  }
  EXPECT_THAT(includes("harness/run/x.cpp", "harness/async/loop.hpp"), IsEmpty());
}

// All other code may use the base, so it uses none of that code.
TEST(includes, the_base_uses_nobody) {
  EXPECT_THAT(includes("harness/base/x.cpp", "harness/time/clock.hpp"), SizeIs(1));
  EXPECT_THAT(includes("harness/base/x.cpp", "asio/post.hpp"), SizeIs(1));
  EXPECT_THAT(includes("harness/base/x.cpp", "harness/base/files.hpp"), IsEmpty());
  for (const char* above : {"harness/config/x.cpp", "drivers/exec/x.cpp", "deploy/local/x.cpp"}) {
    EXPECT_THAT(includes(above, "harness/base/files.hpp"), IsEmpty()) << above;
  }
}

// The watched code does not know its observer, and the observer computes nothing.
TEST(includes, only_the_command_line_knows_the_metrics) {
  for (const char* watched : {"harness/run/x.cpp", "harness/stats/x.cpp", "deploy/local/x.cpp"}) {
    EXPECT_THAT(includes(watched, "prometheus/exposer.h"), SizeIs(1)) << watched;
    EXPECT_THAT(includes(watched, "curl/curl.h"), SizeIs(1)) << watched;
  }
  EXPECT_THAT(includes("harness/run/x.cpp", "harness/metrics/exporter.hpp"), SizeIs(1));
  EXPECT_THAT(includes("harness/metrics/x.cpp", "harness/report/table.hpp"), SizeIs(1));
  EXPECT_THAT(includes("harness/metrics/x.cpp", "harness/async/loop.hpp"), SizeIs(1));
  EXPECT_THAT(includes("harness/metrics/x.cpp", "harness/run/live.hpp"), IsEmpty());
  EXPECT_THAT(includes("harness/metrics/x.cpp", "prometheus/exposer.h"), IsEmpty());
  EXPECT_THAT(includes("program/x.cpp", "harness/metrics/exporter.hpp"), IsEmpty());
}

TEST(includes, only_the_program_knows_the_agents) {
  EXPECT_THAT(includes("harness/run/x.cpp", "harness/agents/coordinator.hpp"), SizeIs(1));
  EXPECT_THAT(includes("drivers/redis/x.cpp", "grpcpp/grpcpp.h"), SizeIs(1));
  EXPECT_THAT(includes("harness/agents/x.cpp", "grpcpp/grpcpp.h"), IsEmpty());
  EXPECT_THAT(includes("harness/agents/x.cpp", "harness/run/worker_pool.hpp"), IsEmpty());
  EXPECT_THAT(includes("program/x.cpp", "harness/agents/coordinator.hpp"), IsEmpty());
}

// Otherwise a workload would fit only one backend.
TEST(includes, workloads_know_contracts_only) {
  EXPECT_THAT(includes("workloads/mutex.cpp", "drivers/memory/memory.hpp"), SizeIs(1));
  EXPECT_THAT(includes("workloads/mutex.cpp", "harness/run/worker.hpp"), SizeIs(1));
  EXPECT_THAT(includes("workloads/mutex.cpp", "harness/workload.hpp"), IsEmpty());
}

// A driver neither measures nor reads a clock, and knows no workload.
TEST(includes, drivers_know_their_contract_only) {
  EXPECT_THAT(includes("drivers/redis/lua.cpp", "harness/stats/histogram.hpp"), SizeIs(1));
  EXPECT_THAT(includes("drivers/redis/lua.cpp", "harness/time/clock.hpp"), SizeIs(1));
  EXPECT_THAT(includes("drivers/redis/lua.cpp", "workloads/mutex.hpp"), SizeIs(1));
  EXPECT_THAT(includes("drivers/redis/lua.cpp", "harness/async/loop.hpp"), IsEmpty());
  EXPECT_THAT(includes("drivers/redis/server_test.cpp", "deploy/local/cluster.hpp"), IsEmpty());
}

// Nor another driver. The suite is for tests, and itself knows no driver.
TEST(includes, drivers_are_apart) {
  EXPECT_THAT(includes("drivers/redis/lua.cpp", "drivers/memory/lock.hpp"), SizeIs(1));
  EXPECT_THAT(includes("drivers/redis/x_test.cpp", "drivers/memory/lock.hpp"), SizeIs(1));
  EXPECT_THAT(includes("drivers/redis/lua.cpp", "drivers/conformance/proxy.hpp"), SizeIs(1));
  EXPECT_THAT(includes("drivers/conformance/stage.cpp", "drivers/redis/redis.hpp"), SizeIs(1));
  EXPECT_THAT(includes("drivers/redis/lua.cpp", "drivers/redis/script.hpp"), IsEmpty());
  EXPECT_THAT(includes("drivers/redis/x_test.cpp", "drivers/conformance/proxy.hpp"), IsEmpty());
  EXPECT_THAT(includes("drivers/faulty/faulty.cpp", "drivers/memory/memory.hpp"), IsEmpty());
}

// Angle brackets count, too; so does the one place that may include everything else.
TEST(includes, client_libraries_stay_in_their_driver) {
  constexpr std::array<client_library, 2> libraries{
      {{"mysql.h", "drivers/mysql/"}, {"zookeeper/", "drivers/zookeeper/"}}};
  const auto library = [&](std::string_view path, const std::string& header) {
    return texts(check_libraries(path, fmt::format("#include <{}>\n", header), libraries));
  };
  EXPECT_THAT(library("program/main.cpp", "mysql.h"), SizeIs(1));
  EXPECT_THAT(library("drivers/mysql/mysql.cpp", "zookeeper/zookeeper.h"), SizeIs(1));
  EXPECT_THAT(library("drivers/redis/resp.cpp", "zookeeper/zookeeper.h"), SizeIs(1));
  EXPECT_THAT(library("deploy/local/probe.cpp", "mysql.h"), SizeIs(1));
  EXPECT_THAT(library("drivers/zookeeper/handle.cpp", "zookeeper/zookeeper.h"), IsEmpty());
  EXPECT_THAT(library("drivers/mysql/connection.cpp", "mysql.h"), IsEmpty());
}

// deploy starts servers and knows no locks.
TEST(includes, deploy_knows_no_locks) {
  EXPECT_THAT(includes("deploy/local/probe.cpp", "drivers/redis/resp.hpp"), SizeIs(1));
  EXPECT_THAT(includes("deploy/local/probe.cpp", "harness/time/clock.hpp"), IsEmpty());
}

// Outside harness/time no code reads a clock or sleeps; a comment or a string may mention it.
TEST(clocks, only_time_reads_them) {
  const std::string now = "// About.\nauto a = std::chrono::steady_clock::now();\n";
  EXPECT_THAT(code("harness/run/x.cpp", now),
              ElementsAre(HasSubstr("harness/run/x.cpp:2: uses steady_clock::now; only "
                                    "harness/time reads a clock")));
  EXPECT_THAT(code("harness/time/clock.cpp", now), IsEmpty());
  EXPECT_THAT(code("deploy/local/x.cpp", "// A.\nstd::this_thread::sleep_for(1ms);\n"), SizeIs(1));
  EXPECT_THAT(code("drivers/redis/x.cpp", "// A.\nclock_gettime(CLOCK_REALTIME, &t);\n"),
              SizeIs(1));
  EXPECT_THAT(code("harness/run/x.cpp", "// gettimeofday\nauto a = \"usleep\";\n"), IsEmpty());
  EXPECT_THAT(code("harness/run/x.cpp", "// A.\nusing c = std::chrono::steady_clock;\n"),
              IsEmpty());
}

// The limit itself is allowed.
TEST(conditions, of_do_loops_await_nothing) {
  const std::string opening = "// About.\n";
  EXPECT_THAT(code("workloads/x.cpp", opening + "do {\n} while (co_await me.retry());\n"),
              ElementsAre(HasSubstr("workloads/x.cpp:3: awaits in the condition of a do loop")));
  EXPECT_THAT(code("workloads/x.cpp", opening + "while (co_await me.retry()) {\n}\n"), IsEmpty());
  EXPECT_THAT(code("workloads/x.cpp", opening + "do {\n} while (again);\n"), IsEmpty());
}

TEST(sizes, files) {
  EXPECT_THAT(code("harness/run/x.cpp", times(400, "// x\n")), IsEmpty());
  EXPECT_THAT(code("harness/run/x.cpp", times(401, "// x\n")),
              ElementsAre(HasSubstr("x.cpp:401: the file has 401 lines, 400 are allowed")));
}

// From the first line of the head to the closing brace.
TEST(sizes, functions) {
  const auto with_body = [](int lines) {
    return fmt::format("// About.\nint long_one(int a,\n    int b) {{\n{}}}\n",
                       times(lines, "  f(\"}\");\n"));
  };
  EXPECT_THAT(code("harness/run/x.cpp", with_body(67)), IsEmpty());
  EXPECT_THAT(code("harness/run/x.cpp", with_body(68)),
              ElementsAre(HasSubstr("x.cpp:2: long_one has 71 lines, 70 are allowed")));
}

// In characters, not bytes: ten of two bytes each may end a line of 100.
TEST(text, columns) {
  EXPECT_THAT(texts(check_text("a.cpp", times(100, "x"))), IsEmpty());
  EXPECT_THAT(texts(check_text("a.cpp", times(1, "\n") + times(101, "x"))),
              ElementsAre(HasSubstr("a.cpp:2: has 101 columns, 100 are allowed")));
  EXPECT_THAT(texts(check_text("a.cpp", times(90, "x") + times(10, "\u00b5"))), IsEmpty());
}

// Both would stay for ever.
TEST(text, tabs_and_notes_to_oneself) {
  EXPECT_THAT(texts(check_text("check", "a\n\tb\n")), ElementsAre(HasSubstr("check:2: has a tab")));
  EXPECT_THAT(texts(check_text("check",
                               "# TO"
                               "DO: x\n")),
              SizeIs(1));
  EXPECT_THAT(texts(check_text("check",
                               "# FIX"
                               "ME\n")),
              SizeIs(1));
  EXPECT_THAT(texts(check_text("check",
                               "# TO"
                               "DOS\n")),
              IsEmpty());
}

// Headers open with their purpose; an implementation may leave that to its header.
TEST(opening, says_what_the_file_is) {
  EXPECT_THAT(code("harness/run/x.hpp", "#pragma once\n"), SizeIs(2));
  EXPECT_THAT(code("harness/run/x.hpp", "// About.\nint x;\n"), SizeIs(1));
  EXPECT_THAT(code("harness/run/x.hpp", "// About.\n#pragma once\n"), IsEmpty());
  EXPECT_THAT(code("harness/run/x.cpp", "int x;\n"), SizeIs(1));
  EXPECT_THAT(code("harness/run/x.cpp", "#include <new>\n"), IsEmpty());
}

// Blanked text keeps its length, so that lines and columns stay right.
TEST(code_only, blanks_comments_and_literals) {
  EXPECT_EQ(code_only("a // {\nb /* { \n */ c"), "a     \nb      \n    c");
  EXPECT_EQ(code_only(R"(f("{\"{", '{', '\'') + 1'000)"), R"(f("    ", ' ', '  ') + 1'000)");
  EXPECT_EQ(code_only("a R\"x({\")\n{)x\" b {"), "a        \n     b {");
}

std::vector<std::string> names(std::string_view text) {
  std::vector<std::string> result;
  for (const function_extent& f : functions(code_only(text))) {
    result.push_back(fmt::format("{} {}+{}", f.name, f.first_line, f.lines));
  }
  return result;
}

// The text before a brace tells what it opens.
TEST(functions, are_found_by_their_braces) {
  EXPECT_THAT(names("namespace a {\nstruct b : c<int> {\n  int d() const {\n    if (e) {\n    }\n"
                    "  }\n};\n}\n"),
              ElementsAre("d 3+4"));
  EXPECT_THAT(names("x::x(int a) : a_{a}, b_{std::move(c)} {\n  f();\n}\n"),
              ElementsAre("x::x 1+3"));
  EXPECT_THAT(names("template <class T>\nT f(T a) {\n}\n\nenum class e { a, b };\n"),
              ElementsAre("f 1+3"));
  EXPECT_THAT(names("const std::vector<row> table = {\n  {1, f(2)},\n  {3, g(4)},\n};\n"),
              IsEmpty());
  EXPECT_THAT(names("struct a {\n public:\n  a() {}\n  int b{1};\n  ~a() {}\n};\n"),
              ElementsAre("a 2+2", "~a 5+1"));
  EXPECT_THAT(names("#define M(x) {\nint f() {\n}\n"), ElementsAre("f 2+2"));
}

}  // namespace
}  // namespace lockmark::tidy
