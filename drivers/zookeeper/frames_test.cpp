#include "drivers/zookeeper/frames.hpp"

#include <gmock/gmock.h>

namespace lockmark::zookeeper {
namespace {

using testing::HasSubstr;

std::string number(std::int32_t value) {
  const auto bits = static_cast<std::uint32_t>(value);
  std::string all;
  for (int shift = 24; shift >= 0; shift -= 8) all += static_cast<char>(bits >> shift & 0xffU);
  return all;
}

std::string text(const std::string& value) {
  return number(static_cast<std::int32_t>(value.size())) + value;
}

std::string frame(std::int32_t request, std::int32_t error, const std::string& rest) {
  const std::string all = number(request) + std::string(8, '\0') + number(error) + rest;
  return number(static_cast<std::int32_t>(all.size())) + all;
}

const std::string stat(68, 's');

// Every kind of reply, as real servers send it.
TEST(frames, of_servers_are_believed) {
  const std::pair<body, std::string> answers[] = {
      {body::nothing, ""},
      {body::path, text("/a")},
      {body::path_and_stat, text("/a") + stat},
      {body::stat, stat},
      {body::data_and_stat, text("data") + stat},
      {body::data_and_stat, number(-1) + stat},
      {body::names, number(2) + text("a") + text("")},
      {body::names, number(0)},
  };
  for (const auto& [what, rest] : answers) {
    EXPECT_EQ(wrong_in(frame(7, 0, rest), what), "");
    EXPECT_EQ(wrong_in(frame(7, -101, ""), what), "") << "an error has nothing behind its header";
  }
  for (const std::int32_t unasked : {-2, -4, -8}) {
    EXPECT_EQ(wrong_in(frame(unasked, 0, ""), std::nullopt), "");
  }
  EXPECT_EQ(wrong_in(frame(-1, 0, number(3) + number(3) + text("/a")), std::nullopt), "");
}

// Messages that would crash the C client in one way or another.
TEST(frames, that_lie_are_not) {
  EXPECT_THAT(wrong_in(frame(7, 0, ""), std::nullopt), HasSubstr("request 7, which nobody made"));
  EXPECT_THAT(wrong_in(number(4) + number(7), body::stat), HasSubstr("a message cut short"));
  EXPECT_THAT(wrong_in("", body::stat), HasSubstr("cut short"));
  const std::pair<body, std::string> lies[] = {
      {body::path, number(3) + "/a"},
      {body::path, number(-1)},
      {body::path_and_stat, text("/a") + stat.substr(1)},
      {body::stat, ""},
      {body::data_and_stat, number(-2) + stat},
      {body::data_and_stat, number(0x7fffffff) + stat},
      {body::names, number(0x7fffffff) + text("a")},
      {body::names, number(-2)},
      {body::names, number(1) + number(-1)},
  };
  for (const auto& [what, rest] : lies) {
    EXPECT_THAT(wrong_in(frame(7, 0, rest), what), HasSubstr("request 7 that is cut short"));
  }
  const auto notified = [](const std::string& rest) {
    return wrong_in(frame(-1, 0, rest), std::nullopt);
  };
  EXPECT_THAT(notified(number(3) + number(3) + number(9)), HasSubstr("notification cut short"));
  EXPECT_THAT(notified(number(-1) + number(3) + text("")), HasSubstr("of type -1"));
}

// A message cut off anywhere is noticed, and never read beyond its end.
TEST(frames, cut_anywhere) {
  const std::string whole = frame(7, 0, number(2) + text("a") + text("b"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    EXPECT_NE(wrong_in(part, body::names), "") << size;
    EXPECT_EQ(frame_length(part).has_value(), size >= 4);
  }
  EXPECT_EQ(frame_length(whole), static_cast<std::int64_t>(whole.size()));
  EXPECT_EQ(frame_length(number(-5)), -1);
}

}  // namespace
}  // namespace lockmark::zookeeper
