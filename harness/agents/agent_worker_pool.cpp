#include "harness/agents/agent_worker_pool.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/run/participants/deaths.hpp"
#include "harness/run/result.hpp"

namespace lockmark::agents {
namespace {

using namespace std::chrono_literals;
using state = wire::ParticipantReport;

constexpr duration look_again_after = 5ms;
// Several times what a message takes to another continent.
constexpr duration ahead = 500ms;

wire::Assignment assignment_of(const run::process_pool_setup& who, std::uint32_t run) {
  wire::Assignment a;
  a.set_run(run);
  a.set_run_id(who.run_id);
  a.set_job(config::print_job(who.job));
  a.set_lock(std::string(who.lock.name));
  a.set_workload(std::string(who.workload.name));
  for (const auto& [name, value] : who.options) (*a.mutable_options())[name] = value;
  a.set_holders(who.holders);
  a.set_participants(static_cast<std::uint32_t>(who.job.participants));
  a.set_notes_answers(who.notes_answers);
  a.set_target(who.target_of(0));
  a.set_shown_target(who.shown_target);
  a.set_topology(who.topology);
  return a;
}

}  // namespace

agent_worker_pool::agent_worker_pool(const real_clock& clock, std::vector<agent_link*> links,
                                     const run::process_pool_setup& who, std::uint32_t run,
                                     teller tell)
    : clock_(clock), links_(std::move(links)), run_(run), tell_(std::move(tell)) {
  if (who.job.guard != config::guard_kind::none) {
    throw usage_error(
        "guard: register is in the memory of one machine; agents have none in common");
  }
  if (who.job.participants < links_.size()) {
    throw usage_error("participants: {} are too few for {} agents, which need one each",
                      who.job.participants, links_.size());
  }
  for (const agent_link* l : links_) {
    if (l->lost()) throw no_server(fmt::format("agent {} is lost", l->facts().name));
  }
  shape_ = {static_cast<std::uint32_t>(who.job.participants),
            static_cast<std::uint32_t>(who.job.instances),
            static_cast<std::uint32_t>(who.job.clients),
            who.job.keys.count(who.job.clients_in_all()),
            who.lock.has.has(feature::optimistic),
            who.notes_answers};
  members_.resize(shape_.participants);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    wire::Assignment a = assignment_of(who, run);
    for (std::size_t p = i; p < members_.size(); p += links_.size()) {
      a.add_numbers(static_cast<std::uint32_t>(p));
    }
    for (far_member* m : links_[i]->assign(std::move(a), shape_)) members_[m->number()] = m;
  }
  std::vector<agent_link*> of_participant;
  for (std::size_t p = 0; p < members_.size(); ++p) {
    of_participant.push_back(links_[p % links_.size()]);
  }
  clocks_.emplace(std::move(of_participant), shape_.clients);
}

// A run that ended early may have left its participants.
agent_worker_pool::~agent_worker_pool() {
  if (!started_) return;
  orders_.stop = orders_.hurry = orders_.close = orders_.kill = true;
  order();
}

void agent_worker_pool::start() {
  started_ = true;
  for (agent_link* l : links_) l->begin();
}

void agent_worker_pool::order() {
  const auto known = [](std::int64_t ns) { return ns == run::window::never ? 0 : ns; };
  orders_.window_start_ns = known(window_.start_ns.load());
  orders_.window_end_ns = known(window_.end_ns.load());
  for (agent_link* l : links_) l->order(orders_);
}

duration agent_worker_pool::notice() const {
  return ahead;
}

void agent_worker_pool::announce() {
  order();
}

void agent_worker_pool::go(time_point start) {
  orders_.go_ns = to_ns(start);
  order();
}

void agent_worker_pool::stop() {
  orders_.stop = true;
  order();
}

void agent_worker_pool::hurry() {
  orders_.hurry = true;
  order();
}

void agent_worker_pool::close() {
  orders_.close = true;
  order();
}

bool agent_worker_pool::kill_the_stuck() {
  orders_.kill = true;
  order();
  return true;
}

// Each under the lock of its agent.
template <class F>
bool agent_worker_pool::each_member(F is_so) const {
  return std::ranges::all_of(links_, [&](const agent_link* l) {
    return l->with_members([&](const auto& all) {
      return std::ranges::all_of(all, [&](const auto& m) { return is_so(*m); });
    });
  });
}

std::exception_ptr agent_worker_pool::failure() {
  std::exception_ptr why;
  each_member([&](const far_member& m) {
    if (!why) why = m.failure();
    const auto& death = m.death();
    if (!why && death && death->measured_until_ns == 0 && m.known_until_ns() == 0) {
      why = std::make_exception_ptr(
          std::runtime_error(fmt::format("participant {} died before it was ready", m.number())));
    }
    return true;
  });
  if (why || orders_.go_ns != 0) return why;
  for (const agent_link* l : links_) {
    if (!l->lost()) continue;
    return std::make_exception_ptr(
        no_server(fmt::format("agent {} was lost before the load began", l->facts().name)));
  }
  return nullptr;
}

bool agent_worker_pool::all_ready() {
  fetch();
  return each_member([](const far_member& m) { return m.state() >= state::READY; });
}

bool agent_worker_pool::all_quiet() {
  fetch();
  if (!started_) return true;
  return each_member([](const far_member& m) { return m.over() || m.state() >= state::QUIET; });
}

task<bool> agent_worker_pool::join(loop& controller, duration patience) {
  const time_point since = controller.now();
  const auto over = [&] {
    fetch();
    return std::ranges::all_of(links_, [](const agent_link* l) { return l->run_is_over(); });
  };
  while (started_ && !over()) {
    if (controller.now() - since > patience && !orders_.kill) {
      orders_.kill = true;
      order();
    }
    co_await controller.sleep_for(look_again_after);
  }
  co_return true;
}

std::vector<run::pool_member*> agent_worker_pool::members() {
  return {members_.begin(), members_.end()};
}

void agent_worker_pool::fetch() {
  const time_point now = clock_.now();
  for (agent_link* l : links_) {
    l->have_read();
    if (const auto news = l->look(now)) tell_(*news);
  }
}

std::int64_t agent_worker_pool::cpu_elsewhere_ns() const {
  std::int64_t sum = 0;
  for (const agent_link* l : links_) sum += l->cpu_ns();
  return sum;
}

double agent_worker_pool::cores() const {
  double sum = 0;
  for (const agent_link* l : links_) sum += l->facts().cores;
  return sum;
}

std::string agent_worker_pool::trouble() const {
  for (const agent_link* l : links_) {
    if (std::string why = l->trouble(); !why.empty()) {
      return fmt::format("agent {}: {}", l->facts().name, why);
    }
  }
  const auto lost = [](const agent_link* l) { return l->lost(); };
  return std::ranges::all_of(links_, lost) ? "every agent is lost" : "";
}

std::int64_t link_clocks::between(std::uint32_t client, std::uint32_t other,
                                  std::int64_t at_ns) const {
  const auto agent_of = [&](std::uint32_t c) {
    return of_participant_[c / clients_ % of_participant_.size()];
  };
  const agent_link *const a = agent_of(client), *const b = agent_of(other);
  if (a == b || a == nullptr || b == nullptr) return 0;
  return a->error_ns(at_ns) + b->error_ns(at_ns);
}

run::load_host host_of(const agent_link& link, std::vector<std::uint32_t> participants) {
  const clock_record clock = link.record();
  return {link.facts().name, link.facts().host, link.facts().cores, std::move(participants),
          clock.offset_ns,   clock.exchanges,   clock.breaks,       clock.error,
          link.late_ns(),    link.lost()};
}

std::vector<far_member*> agent_worker_pool::of_agent(std::size_t i) const {
  std::vector<far_member*> all;
  for (std::size_t p = i; p < members_.size(); p += links_.size()) all.push_back(members_[p]);
  return all;
}

void agent_worker_pool::tell(run::result& r) const {
  std::vector<run::death> missing, deaths;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const agent_link& l = *links_[i];
    const host_facts& facts = l.facts();
    run::load_host host = host_of(l, {});
    std::int64_t known_until_ns = 0;
    for (const far_member* m : of_agent(i)) {
      host.participants.push_back(m->number());
      if (m->death()) deaths.push_back(*m->death());
      if (!m->lost()) continue;
      known_until_ns = std::max(known_until_ns, m->known_until_ns());
      missing.push_back({m->number(), 0, m->known_until_ns(), m->measured_until_ns()});
    }
    if (l.lost()) {
      run::mark lost;
      lost.at_s = static_cast<double>(known_until_ns - r.window_start_ns) / 1e9;
      lost.kind = "host_lost";
      lost.is_of_job = false;
      lost.text = fmt::format(
          "agent {} was lost with {} of {} participants; the run went on without them, and knows "
          "nothing of what they did later",
          facts.name, host.participants.size(), members_.size());
      r.marks.push_back(std::move(lost));
    }
    if (host.late_ns > 0) {
      r.self.late_hosts =
          message{"late_host",
                  {facts.name, fmt::format("{:.2f}", static_cast<double>(host.late_ns) / 1e6)}};
    }
    r.hosts.push_back(std::move(host));
  }
  run::mark_deaths(r, deaths, members_.size());
  missing.insert(missing.end(), deaths.begin(), deaths.end());
  run::count_absent(r, missing, members_.size());
  if (const std::string why = trouble(); !why.empty()) r.end_as(run::ending::failed, why);
}

}  // namespace lockmark::agents
