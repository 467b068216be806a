// Any bytes as what a server says over HTTP/2, to a client that has a call and a talk under way:
// the same is heard whether they come in one piece or byte by byte, each call ends at most once,
// and what is to be sent stays within bounds.
#include <cassert>
#include <cstdint>
#include <set>
#include <string>

#include "drivers/etcd/grpc_frames.hpp"
#include "drivers/etcd/grpc_session.hpp"

namespace {

using namespace lockmark::etcd;

struct heard final : grpc_session::listener {
  void on_message(std::int32_t call, std::string_view message) override {
    assert(!over.contains(call) && message.size() <= largest_message);
  }
  void on_end(std::int32_t call, call_end end) override {
    assert(over.insert(call).second);
    assert(end.message.size() <= 2'000);
  }
  std::set<std::int32_t> over;
};

void listen(std::string_view bytes, std::size_t step) {
  heard h;
  grpc_session client{"h:2379", false, h};
  const auto call = client.start("/s/Call", "x", grpc_session::more::none, "");
  const auto talk = client.start("/s/Talk", "y", grpc_session::more::may_follow, "token");
  assert(call > 0 && talk > call);
  std::string out;
  client.take_output(out);
  bool sound = true;
  for (std::size_t at = 0; at < bytes.size() && sound; at += step) {
    sound = client.receive(bytes.substr(at, step));
    assert(sound == client.wrong().empty());
  }
  client.send(talk, "z");
  client.cancel(call);
  client.take_output(out);
  assert(out.size() < (1U << 20));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  listen(bytes, size + 1);
  listen(bytes, 1);
  return 0;
}
