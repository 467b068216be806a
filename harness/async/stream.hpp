// A TCP connection with deadlines, for drivers that implement their protocol themselves.
//
// Every outcome is a value, never an exception: a std::error_code that can be compared with
// std::errc (timed_out at the deadline), or asio::error::eof. It neither reconnects nor buffers,
// and has no TLS of its own (tls.hpp).
#pragma once

#include <asio/basic_stream_socket.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "harness/async/loop.hpp"

namespace lockmark {

struct received {
  std::error_code error;
  std::size_t bytes = 0;  // > 0 unless there is an error
};

// At most one read and one write are in flight. After any error only close() and connect() are
// useful: a missed deadline abandons both directions.
class stream {
 public:
  explicit stream(loop& l) : loop_(l), socket_(l.context()), reading_(*this), writing_(*this) {}
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() {
    reading_.stop();
    writing_.stop();
  }

  // Closes an open connection and connects to the first address of `host` that answers. Resolves
  // names off the loop; a numeric address needs no resolving.
  task<std::error_code> connect(std::string host, std::uint16_t port, time_point deadline);

  // Writes what the kernel takes without waiting and returns the number of bytes.
  std::size_t write_now(std::string_view bytes, std::error_code& error);

  // Writes everything; waits only if the kernel does not take it at once. `bytes` must stay valid.
  task<std::error_code> write_all(std::string_view bytes, time_point deadline);

  // Waits for bytes and reads them. asio::error::eof: the peer has closed the connection.
  task<received> read_some(std::span<char> room, time_point deadline);

  bool is_open() const { return socket_.is_open(); }
  // Ends a read or write in flight with an error.
  void close();

 private:
  using socket = asio::basic_stream_socket<asio::ip::tcp, executor>;

  // Cancels the operation in flight at its deadline.
  class alarm final : public timer {
   public:
    explicit alarm(stream& s) : stream_(s) {}
    void start(time_point deadline);
    void stop() { stream_.loop_.remove_timer(*this); }
    bool rang() const { return rang_; }
    // The error that the caller of an operation gets when it ended with `error`.
    std::error_code explain(std::error_code error) const;

   private:
    void fire() override;
    stream& stream_;
    bool rang_ = false;
  };

  struct resolving;
  task<std::error_code> resolve(std::string host, std::uint16_t port, time_point deadline,
                                std::vector<asio::ip::tcp::endpoint>& found);
  task<std::error_code> connect_to(asio::ip::tcp::endpoint where, time_point deadline);

  loop& loop_;
  socket socket_;
  alarm reading_;
  alarm writing_;
};

}  // namespace lockmark
