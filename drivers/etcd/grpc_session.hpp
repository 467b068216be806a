// The client's side of one HTTP/2 connection that carries gRPC calls: bytes of the server in,
// messages and endings out, and the other way round. Knows no sockets, no time and no etcd.
//
// nghttp2 does HTTP/2 itself, with its flow control. What a server may make us keep is bounded: a
// message (grpc_frames.hpp), the headers of a call, nghttp2's queue of acknowledgements.
//
// Source: github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md; RFC 9113.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

struct nghttp2_session;

namespace lockmark::etcd {

// How a call ended.
struct call_end {
  enum class how : std::uint8_t {
    answered,  // by the server, with `code` and `message`
    refused,   // the server has certainly not looked at it
    broken,    // the stream ended without a status: unknown what became of the call
  };
  how ended = how::broken;
  int code = 0;         // of gRPC; 0: it succeeded
  std::string message;  // the server's words, or ours about a broken stream
};

class grpc_session {
 public:
  // Hears of the calls during receive(). Must not call the session meanwhile.
  class listener {
   public:
    // `message` is valid during the call only.
    virtual void on_message(std::int32_t call, std::string_view message) = 0;
    // The last that is heard of a call; never for one that was cancelled.
    virtual void on_end(std::int32_t call, call_end end) = 0;

   protected:
    ~listener() = default;
  };

  // `authority`: "host:port". `l` must outlive this.
  grpc_session(std::string authority, bool secure, listener& l);
  ~grpc_session();
  grpc_session(const grpc_session&) = delete;
  grpc_session& operator=(const grpc_session&) = delete;

  // The server has introduced itself.
  bool ready() const { return ready_; }
  // False: the server has said goodbye; those under way may still end.
  bool may_start() const;

  enum class more : std::uint8_t { none, may_follow };

  // Starts a call with its first message. `path`: "/etcdserverpb.KV/Txn". `token`: of a login;
  // empty: none. 0: it cannot be started.
  std::int32_t start(std::string_view path, std::string_view message, more messages,
                     std::string_view token);
  // Another message of a call that was started with may_follow. Does nothing if the call has ended.
  void send(std::int32_t call, std::string_view message);
  // Tells the server that nobody waits for the call any more.
  void cancel(std::int32_t call);

  // False: the server broke the protocol, see wrong(); nothing more will come of this connection.
  bool receive(std::string_view bytes);
  // "an answer that is no gRPC"; empty: nothing so far.
  const std::string& wrong() const { return wrong_; }

  // Moves all that is to be sent to the end of `out`.
  void take_output(std::string& out);

 private:
  struct stream;
  struct callbacks;
  struct freed {
    void operator()(nghttp2_session* s) const;
  };
  void finish(std::int32_t call, std::uint32_t error_code);
  void collect();

  const std::string authority_;
  const bool secure_;
  listener& listener_;
  std::unordered_map<std::int32_t, std::unique_ptr<stream>> streams_;
  bool ready_ = false;
  bool leaving_ = false;  // the server has said goodbye
  std::string out_;
  std::string wrong_;
  std::string complaint_;  // of nghttp2, about what it read
  std::unique_ptr<nghttp2_session, freed> session_;
};

}  // namespace lockmark::etcd
