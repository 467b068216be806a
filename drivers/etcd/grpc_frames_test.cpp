#include "drivers/etcd/grpc_frames.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace lockmark::etcd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> messages_of(message_splitter& s, std::string_view bytes,
                                     std::size_t piece) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    s.feed(bytes.substr(at, piece));
    while (const auto message = s.next()) all.emplace_back(*message);
  }
  return all;
}

// Whatever pieces the network makes of them.
TEST(message_splitter, gives_messages_in_their_order) {
  const std::string bytes = framed("first") + framed("") + framed(std::string(300, 'x'));
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
    message_splitter s;
    EXPECT_THAT(messages_of(s, bytes, piece), ElementsAre("first", "", std::string(300, 'x')));
    EXPECT_FALSE(s.inside_message());
    EXPECT_EQ(s.wrong(), "");
  }
}

TEST(message_splitter, waits_for_the_rest) {
  message_splitter s;
  EXPECT_THAT(messages_of(s, framed("whole") + framed("half").substr(0, 7), 100),
              ElementsAre("whole"));
  EXPECT_TRUE(s.inside_message());
  EXPECT_EQ(s.wrong(), "");
}

// The largest message is taken; what is announced beyond it is refused before it comes.
TEST(message_splitter, refuses_what_is_too_large) {
  message_splitter s;
  EXPECT_EQ(messages_of(s, framed(std::string(largest_message, 'x')), 4096).size(), 1U);
  s.feed(framed(std::string(largest_message + 1, 'x')).substr(0, 5));
  EXPECT_FALSE(s.next());
  EXPECT_THAT(s.wrong(), HasSubstr("a message of 65537 bytes, more than 65536"));
  s.feed(framed("more"));
  EXPECT_FALSE(s.next()) << "nothing comes after what was wrong";
}

TEST(message_splitter, refuses_compression) {
  message_splitter s;
  s.feed(std::string("\1\0\0\0\1x", 6));
  EXPECT_FALSE(s.next());
  EXPECT_THAT(s.wrong(), HasSubstr("compressed"));
}

TEST(percent_decoded, leaves_alone_what_is_no_code) {
  EXPECT_EQ(percent_decoded("etcdserver: no leader"), "etcdserver: no leader");
  EXPECT_EQ(percent_decoded("50%25 of %C3%bc"), "50% of \xc3\xbc");
  EXPECT_EQ(percent_decoded("%"), "%");
  EXPECT_EQ(percent_decoded("%4"), "%4");
  EXPECT_EQ(percent_decoded("%zz%41"), "%zzA");
}

}  // namespace
}  // namespace lockmark::etcd
