#include "harness/config/redaction.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/config/job.hpp"

namespace lockmark::config {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* with_secrets =
    "stop: {duration: 1s}\n"
    "options: {server: 'redis://u:hunter2@h', password: hunter2, table: locks}\n"
    "faults:\n"
    "  - {do: run, at: 1s, for: 1s, command: mysql -phunter2, undo: PASS=hunter2 fix}\n"
    "  - {do: kill, who: holder, at: 2s}\n";

// A stored job can be read, keeps everything else, and is refused for running.
TEST(redaction, a_stored_job_can_be_read) {
  const job whole = parse_job(with_secrets, "x.yaml");
  const std::string stored = print_job(redacted(whole));
  EXPECT_THAT(stored, Not(HasSubstr("hunter2")));
  const job read = parse_job(stored, "stored.yaml");
  EXPECT_EQ(read, redacted(whole));
  EXPECT_EQ(redacted(read), read);
  EXPECT_EQ(read.faults.at("1.command"), "mysql ***");
  EXPECT_EQ(read.faults.at("1.undo"), "***");
  for (const auto& [key, text] : whole.faults) {
    if (key.starts_with("2.")) {
      EXPECT_EQ(read.faults.at(key), text) << key;
    }
  }
  EXPECT_EQ(read.options.at("server"), "redis://u:***@h:6379");
  EXPECT_EQ(read.options.at("table"), "locks");
  EXPECT_EQ(hidden_command(read), "faults.1.command");
  EXPECT_EQ(hidden_command(whole), "");
}

TEST(redaction, words_of_a_command_line) {
  const std::pair<const char*, const char*> cases[] = {
      {"run", "run"},
      {"--on", "--on"},
      {"hold=exp(1ms)", "hold=exp(1ms)"},
      {"redis://u:hunter2@h", "redis://u:***@h:6379"},
      {"--on=redis://u:hunter2@h", "--on=redis://u:***@h:6379"},
      {"--on=exec:lock hunter2", "--on=exec:lock ***"},
      {"exec:lock hunter2", "exec:lock ***"},
      {"redis://u:hunter2", "***"},
      {"http://u:hunter2@gateway:9091", "***"},
      {"u:hunter2@h", "***"},
      {"faults.1.command=ssh hunter2", "faults.1.command=ssh ***"},
      {"--set=faults.1.undo=ssh hunter2", "--set=faults.1.undo=ssh ***"},
      {"--set=command_timeout=1s", "--set=command_timeout=1s"},
      {"commands_per_acquire", "commands_per_acquire"},
      {"faults.1.command ssh hunter2", "***"},
      {"options.password=hunter2", "options.password=***"},
      {"options.server=redis://u:hunter2@h", "options.server=redis://u:***@h:6379"},
      {"on=exec:lock hunter2 hold=1ms", "on=exec:lock ***"},
      {"hold=1ms on=exec:lock hunter2", "hold=***"},
      {"hold=1ms faults.1.command='ssh hunter2'", "hold=***"},
      {"redis://h?password=hunter2", "***"},
  };
  for (const auto& [word, shown] : cases) EXPECT_EQ(redacted_argument(word), shown) << word;
}

// Errors quote the user's input.
TEST(redaction, quotes_in_errors_have_no_logins) {
  EXPECT_EQ(in_quotes("redis://u:hunter2@h"), "'redis://u:***@h'");
}

}  // namespace
}  // namespace lockmark::config
