// An agent's part of one run: its participants, as processes, and what is reported of them. A small
// run controller whose orders come from elsewhere.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "agents.pb.h"
#include "harness/agents/agent.hpp"
#include "harness/agents/coordinator_line.hpp"
#include "harness/agents/part.hpp"
#include "harness/async/scope.hpp"

namespace lockmark::agents {

class agent_run {
 public:
  agent_run(loop& l, const real_clock& clock, const agent_setup& s, coordinator_line& line,
            const wire::Hello& agent, const wire::Assignment& a);
  ~agent_run();

  // What holds from now on; may be told again and again.
  void obey(const wire::Orders& o);
  // Reads what the participants have measured, and reports it. To be called every few ms.
  void step();
  // All participants have ended and the last report is on its way.
  bool over() const { return over_; }
  // Leaves its part of the run in a folder, and says where.
  std::string keep_part();

 private:
  void start(const wire::Assignment& a);
  void open_part(const wire::Assignment& a, const wire::Hello& agent);
  void note_exchanges();
  void fail(std::string why);
  void report(bool last);
  void report_on(std::size_t member, wire::ParticipantReport& to);
  void end_load();
  void close();
  task<void> end();

  loop& loop_;
  const real_clock& clock_;
  const agent_setup& setup_;
  coordinator_line& line_;
  const std::uint32_t run_;
  const std::vector<std::uint32_t> numbers_;
  const std::int64_t cpu_before_ns_;
  std::unique_ptr<run::process_worker_pool> pool_;  // null: it could not be made
  std::optional<wire::Failure> failure_;            // why not
  wire::Orders done_;                               // the orders carried out so far
  std::int64_t late_ns_ = 0;
  time_point last_report_{};
  std::vector<check::event> events_;
  wire::Report report_;                // the last one, whose memory the next one uses
  std::unique_ptr<part_writer> part_;  // null: it cannot be kept
  scope ending_;
  bool is_full_ = false;  // more waits for the coordinator than may
  bool closing_ = false;
  bool ended_ = false;
  bool over_ = false;
};

}  // namespace lockmark::agents
