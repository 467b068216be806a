// An agent's line to its coordinator: dials, says hello, and dials again with the same session when
// a connection breaks. Reports are kept until they are acknowledged, so that none is lost or
// counted twice. Sending never waits: threads of its own do.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agents.pb.h"
#include "harness/agents/host_clock.hpp"
#include "harness/agents/invitation.hpp"
#include "harness/time/clock.hpp"

namespace grpc {
class ClientContext;
}

namespace lockmark::agents {

class coordinator_line {
 public:
  // `hello` says who the agent is; token and session are filled in here.
  coordinator_line(const real_clock& clock, std::string address, invitation i, wire::Hello hello);
  ~coordinator_line();
  coordinator_line(const coordinator_line&) = delete;
  coordinator_line& operator=(const coordinator_line&) = delete;

  // Exchanges of stamps since the last call, as the coordinator will know them, too; the first
  // 100,000.
  std::vector<exchange> take_exchanges();
  // Messages since the last call, in order.
  std::vector<wire::ToAgent> take();
  // Numbers the report, a wire::Report as bytes, and sends it as soon as possible.
  void send(std::string report);
  // Reports that the coordinator has not acknowledged, in bytes.
  std::size_t kept_bytes() const;
  // Waits until all reports were acknowledged. False: they were not in time.
  bool flush(time_point by);
  // The run that it has, for the hello of a new connection.
  void has_run(std::uint32_t run);

  bool welcomed() const;
  // The coordinator's refusal, or why TLS failed; empty: none.
  std::string refusal() const;
  // When the coordinator was last heard.
  time_point heard_at() const;

 private:
  struct kept {
    std::uint64_t number = 0;
    std::string report;
  };

  void keep_connected();
  void converse();
  template <class Stream>
  void write_reports(Stream& stream, std::uint64_t after, const bool& over);
  void hear(const wire::ToAgent& message);
  void call_stamps();
  void exchange_stamps();
  void note(const exchange& e);
  bool closing() const;
  bool pause(duration d);

  const real_clock& clock_;
  const std::string address_;
  const invitation invitation_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  wire::Hello hello_;
  std::vector<wire::ToAgent> heard_;
  std::vector<exchange> exchanges_;
  std::deque<kept> kept_;
  std::size_t kept_bytes_ = 0;
  std::uint64_t numbers_ = 0;
  std::string refusal_;
  time_point heard_at_{};
  bool welcomed_ = false;
  bool closing_ = false;
  grpc::ClientContext* work_call_ = nullptr;
  grpc::ClientContext* stamp_call_ = nullptr;

  std::thread work_;
  std::thread stamps_;
};

}  // namespace lockmark::agents
