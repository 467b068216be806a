#include "harness/base/redact.hpp"

#include <gtest/gtest.h>

namespace lockmark {
namespace {

// The secret may be anywhere, in any of the shell's forms.
TEST(redact, a_command_is_shown_as_its_program) {
  const std::pair<const char*, const char*> cases[] = {
      {"ssh db1 systemctl stop redis", "ssh ***"},
      {"/usr/local/bin/break-it hunter2", "break-it ***"},
      {"reboot", "reboot"},
      {"  mysql\t-phunter2", "mysql ***"},
      {"mysql\n-phunter2", "mysql ***"},
      {"PASSWORD=hunter2 redis-cli shutdown", "***"},
      {"python3 README.md", "python3 README.md"},
      {"python3 README.md --pw=hunter2 README.md", "python3 README.md ***"},
      {"'hunter2'", "***"},
      {"a;b", "***"},
      {"a=hunter2", "***"},
      {"x://u:hunter2@h", "***"},
      {"//=:hunter2@@..", "***"},
      {"/hunter2@/x y", "***"},
      {"", "***"},
      {"/", "***"},
  };
  for (const auto& [command, shown] : cases) {
    EXPECT_EQ(shown_command(command), shown) << command;
    EXPECT_EQ(shown_command(shown_command(command)), shown_command(command)) << command;
  }
  EXPECT_TRUE(is_hidden("ssh ***"));
  EXPECT_TRUE(is_hidden("***"));
  EXPECT_FALSE(is_hidden("reboot"));
}

TEST(redact, names_tell_what_is_secret) {
  for (const char* name : {"password", "PASS", "sentinelPassword", "pwd", "client_secret", "Token"})
    EXPECT_TRUE(names_a_secret(name)) << name;
  for (const char* name : {"password-env", "sentinel-password-file", "tls", "server"})
    EXPECT_FALSE(names_a_secret(name)) << name;
}

TEST(redact, logins_of_urls_in_texts) {
  const std::pair<const char*, const char*> cases[] = {
      {"x redis://me:hunter2@h:1 'mysql://a:b@c' http://plain:80/x",
       "x redis://me:***@h:1 'mysql://a:***@c' http://plain:80/x"},
      {"redis://:hunter2@h", "redis://:***@h"},
      {"redis://u:hun/t@r?2@h", "redis://u:***@h"},
      {"redis://u:hun'ter2@h is down", "redis://u:***@h is down"},
      {"redis://u@h", "redis://u@h"},
      {"nothing", "nothing"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(without_logins(text), shown);
}

TEST(redact, known_secrets) {
  EXPECT_EQ(without_secrets("a hunter2 b-hunter2!", {"", "hunter2"}), "a *** b-***!");
  EXPECT_EQ(without_secrets("aaaa", {"a"}), "************");
  EXPECT_EQ(without_secrets("***", {"*"}), "*********");
}

// A program's error message quotes its arguments.
TEST(redact, what_a_command_repeats) {
  const char* command = "mysql -phunter2 --host db.example /dev/null";
  EXPECT_EQ(without_echo("mysql: bad password hunter2 for db.example", command),
            "mysql: bad password *** for ***");
  EXPECT_EQ(without_echo("no hunter2 in -phunter2", command), "no *** in ***");
  EXPECT_EQ(without_echo("u, hunter2 or h?", "x --to='redis://u:hunter2@h'"), "u, *** or h?");
  EXPECT_EQ(without_echo("hunter2: not found", "A=1;hunter2"), "***: not found");
  EXPECT_EQ(without_echo("/dev/null is fine", command), "/dev/null is fine");
  EXPECT_EQ(without_echo("no hint at all", command), "no hint at all");
  EXPECT_EQ(without_echo("", command), "");
}

}  // namespace
}  // namespace lockmark
