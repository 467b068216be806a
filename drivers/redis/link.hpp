// One connection to one Redis server, logged in: bytes out, replies in. Knows neither locks nor
// other servers.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "drivers/redis/resp.hpp"
#include "drivers/redis/target.hpp"
#include "harness/async/stream.hpp"
#include "harness/async/tls.hpp"
#include "harness/driver.hpp"

namespace lockmark::redis {

using config::host_port;

class link {
 public:
  // Decides the login, and whether a database is chosen.
  enum class server : std::uint8_t { redis, sentinel };

  // `where` and `count` must outlive this.
  link(loop& l, const target& where, traffic& count, server what = server::redis);

  // The server to connect to; initially the target's first host.
  void aim_at(const host_port& h) { at_ = h; }
  const host_port& at() const { return at_; }

  // Connects, logs in and chooses the database. Throws no_server when the server refuses the login.
  task<std::error_code> open(time_point deadline);
  bool is_open() const { return secure_ ? secure_->is_open() : stream_.is_open(); }
  void close();
  // True from a failure until the link is open again.
  bool is_troubled() const { return troubled_; }

  // Writes `commands` commands. An error closes the link: protocol_error for an answer that is not
  // RESP2, message_size for one beyond reply_limits.
  task<std::error_code> write(std::string_view bytes, std::size_t commands, time_point deadline);
  task<std::error_code> read(reply& into, time_point deadline);
  // Both, for one command.
  task<std::error_code> ask(std::string_view bytes, reply& into, time_point deadline);

  // The parts of the same, for callers that count coroutines. begin_write returns how many bytes
  // the kernel took at once; finish_write writes the rest.
  std::size_t begin_write(std::string_view bytes, std::size_t commands, std::error_code& error);
  task<std::error_code> finish_write(std::string_view rest, time_point deadline);
  // begin_write; a rest is an error.
  std::error_code write_now(std::string_view bytes, std::size_t commands);
  // True: `into` is the next reply. False: an error, or more must be received.
  bool parse(reply& into, std::error_code& error);
  task<received> receive(time_point deadline) {
    return secure_ ? secure_->read_some(room_, deadline) : stream_.read_some(room_, deadline);
  }
  // Bytes that arrive after the deadline may complete the current reply, and nothing more.
  void feed(const received& got, time_point deadline, std::error_code& error);

  // Replies that are due and not read yet. close() forgets them.
  std::size_t& owed() { return owed_; }
  std::size_t owed() const { return owed_; }

  const target& where() const { return where_; }

 private:
  task<std::error_code> connect(time_point deadline) {
    return secure_ ? secure_->connect(at_.host, at_.port, deadline)
                   : stream_.connect(at_.host, at_.port, deadline);
  }
  task<std::error_code> write_all(std::string_view bytes, time_point deadline) {
    return secure_ ? secure_->write_all(bytes, deadline) : stream_.write_all(bytes, deadline);
  }
  task<std::error_code> log_in(time_point deadline);
  std::size_t append_login(std::string& out) const;

  loop& loop_;
  stream stream_;
  std::unique_ptr<tls_stream> secure_;  // instead of stream_
  const target& where_;
  traffic& count_;
  host_port at_;
  reply_parser parser_;
  std::array<char, 2048> room_;
  std::size_t owed_ = 0;
  server what_;
  bool was_open_ = false;
  bool overdue_ = false;  // the last bytes arrived after their deadline
  bool troubled_ = false;
};

// "redis://h:6379 did not answer in time".
std::string sentence(const target& where, std::error_code error);
// The same without its subject.
std::string predicate(std::error_code error);

// Whether the server is none of Redis, rather than one that cannot be reached now.
bool is_no_redis(std::error_code error);

}  // namespace lockmark::redis
