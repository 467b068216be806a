// Commands to the proxy process, without the process.
#include "harness/faults/proxy/command.hpp"

#include <gtest/gtest.h>

namespace lockmark::faults {
namespace {

using namespace std::chrono_literals;
using kind = command::kind;

TEST(proxy_command, opens_a_link) {
  const command c = read_command(R"({"id":1,"do":"open","host":"db","port":6379})");
  EXPECT_EQ(c.wrong, "");
  EXPECT_EQ(c.what, kind::open);
  EXPECT_EQ(c.id, 1U);
  EXPECT_EQ(c.host, "db");
  EXPECT_EQ(c.port, 6379);
  EXPECT_EQ(c.listen, 0);
}

TEST(proxy_command, opens_a_link_with_a_latency) {
  const command c = read_command(R"({"id":1,"do":"open","host":"db","port":6379,"by_ns":250000,
      "jitter_ns":1000})");
  EXPECT_EQ(c.wrong, "");
  EXPECT_EQ(c.by, 250us);
  EXPECT_EQ(c.jitter, 1us);
  EXPECT_NE(read_command(R"({"do":"open","host":"db","port":1,"by_ns":-1})").wrong, "");
}

TEST(proxy_command, says_what_happens_on_links) {
  const command set = read_command(R"({"do":"set","links":[0,2],"mode":"delay","by_ns":1000000})");
  EXPECT_EQ(set.wrong, "");
  EXPECT_EQ(set.links, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(set.mode, link_mode::delay);
  EXPECT_EQ(set.by, 1ms);
  const command await =
      read_command(R"({"do":"await","links":[1],"word":"SETNX","nth":3,"answer":":1"})");
  EXPECT_EQ(await.wrong, "");
  EXPECT_EQ(await.word, "SETNX");
  EXPECT_EQ(await.nth, 3U);
  EXPECT_EQ(await.answer, ":1");
  EXPECT_EQ(read_command(R"({"do":"go","links":[1]})").wrong, "");
}

// Every error is reported, with the id of the command if it has one.
TEST(proxy_command, says_what_is_wrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "this is no command"},
      {"\xff", "this is no command"},
      {"[1]", "this is no command"},
      {R"({"id":7})", "there is no command ''"},
      {R"({"id":7,"do":"jump"})", "there is no command 'jump'"},
      {R"({"id":7,"do":3})", "'do' is no text"},
      {R"({"id":7,"do":"open","host":"db"})", "there is no server to open a link to"},
      {R"({"id":7,"do":"open","host":"db","port":65536})",
       "'port' is no whole number from 0 to 65535"},
      {R"({"id":7,"do":"go"})", "'links' is no list"},
      {R"({"id":7,"do":"go","links":[-1]})",
       "'links' is no whole number from 0 to 18446744073709551615"},
      {R"({"id":7,"do":"set","links":[0],"mode":"burn"})", "there is no mode of a link 'burn'"},
      {R"({"id":7,"do":"set","links":[0],"mode":"delay","by_ns":1e300})",
       "'by_ns' is no whole number from 0 to 86400000000000"},
      {R"({"id":7,"do":"await","links":[0],"word":""})", "there is no word to wait for"},
  };
  for (const auto& [line, sentence] : cases) {
    const command c = read_command(line);
    EXPECT_EQ(c.wrong, sentence) << line;
    EXPECT_EQ(c.id.has_value(), std::string_view{line}.starts_with("{\"id")) << line;
  }
}

}  // namespace
}  // namespace lockmark::faults
