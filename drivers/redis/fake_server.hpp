// For tests: something that listens as a Redis server does and answers as a test says, right or
// wrong. It keeps no data.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "harness/unique_fd.hpp"

namespace lockmark::redis {

class fake_server {
 public:
  using command = std::vector<std::string>;

  // To one client. Everything returns false once the client is gone, or the server is to end.
  class peer {
   public:
    peer(int socket, int stopping) : socket_(socket), stopping_(stopping) {}
    bool send(std::string_view bytes) const;
    bool pause(int milliseconds) const;

   private:
    bool is_wanted(short what, int milliseconds) const;
    int socket_;
    int stopping_;
  };

  // Called for each command, at once for several clients. False: hangs up.
  using behaviour = std::function<bool(const command&, const peer&)>;

  // Listens on a free port of 127.0.0.1.
  explicit fake_server(behaviour b);
  ~fake_server();
  fake_server(const fake_server&) = delete;
  fake_server& operator=(const fake_server&) = delete;

  std::string address() const;  // "127.0.0.1:4711"
  std::string url() const { return "redis://" + address(); }

 private:
  void accept_all();
  void serve(unique_fd client);

  const behaviour behaviour_;
  unique_fd listener_;
  unique_fd stop_;      // becomes readable...
  unique_fd stopping_;  // ... at the other end of the pipe
  std::uint16_t port_ = 0;
  std::vector<std::thread> clients_;
  std::thread accepting_;
};

// What a Redis 7 answers to the commands by which drivers find out about it, "+OK" to the rest.
std::string usual_answer(const fake_server::command& c);

// A text in RESP.
std::string as_text(std::string_view text);

}  // namespace lockmark::redis
