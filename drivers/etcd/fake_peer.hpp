// For tests: the server's side of one HTTP/2 connection that carries gRPC calls, in memory. Answers
// as the test says, right or wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct nghttp2_session;

namespace lockmark::etcd {

class fake_peer {
 public:
  struct call {
    std::int32_t id = 0;
    std::map<std::string, std::string> headers{};
    std::string message{};   // the latest
    bool cancelled = false;  // by the client

    // "Txn" of "/etcdserverpb.KV/Txn".
    std::string name() const;
  };
  // Called for each message of the client's.
  using behaviour = std::function<void(fake_peer&, const call&)>;

  explicit fake_peer(behaviour b);
  ~fake_peer();

  // False: the client broke the protocol.
  bool receive(std::string_view bytes);
  std::string output();

  // The whole answer to a call that succeeds.
  void answer(std::int32_t id, std::string_view message);
  // A message of a call that goes on; `bytes` are sent as they are, with the frame of gRPC or not.
  void say(std::int32_t id, std::string_view bytes);
  // Ends a call with a status of gRPC.
  void end(std::int32_t id, int code, std::string_view words = "");
  // Answers as a proxy of HTTP.
  void http(std::int32_t id, int status, std::string_view body);
  // Resets the stream, or says goodbye to the connection.
  void reset(std::int32_t id, std::uint32_t error_code);
  void go_away(std::int32_t last_call);

  const std::map<std::int32_t, call>& calls() const { return calls_; }
  // Names of the calls in their order.
  std::vector<std::string> names() const;

 private:
  struct callbacks;
  struct reply {
    std::string unsent;
    bool started = false;
    bool ending = false;
    bool with_status = true;
    int code = 0;
    std::string words;
  };
  struct freed {
    void operator()(nghttp2_session* s) const;
  };
  void start(std::int32_t id, int http_status, bool is_grpc);

  behaviour behaviour_;
  std::map<std::int32_t, call> calls_;
  std::map<std::int32_t, std::string> incoming_;
  std::map<std::int32_t, reply> replies_;
  std::unique_ptr<nghttp2_session, freed> session_;
};

}  // namespace lockmark::etcd
