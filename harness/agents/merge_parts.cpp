#include "harness/agents/merge_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/agents/agent_worker_pool.hpp"
#include "harness/agents/part.hpp"
#include "harness/run/collector.hpp"
#include "harness/run/participants/deaths.hpp"
#include "harness/run/run_job.hpp"

namespace lockmark::agents {
namespace {

// One agent's part, brought into a link as its reports would have been.
struct part {
  std::vector<wire::PartRecord> records;
  std::unique_ptr<agent_link> link;
  std::int64_t window_start_ns = 0;  // by the agent's clock; 0: it never heard of one
  std::int64_t window_end_ns = 0;

  const wire::Beginning& beginning() const { return records.front().beginning(); }
  const wire::Assignment& assignment() const { return beginning().assignment(); }
};

// Members that have nothing to do any more.
class ended_pool final : public run::worker_pool {
 public:
  explicit ended_pool(std::vector<run::pool_member*> all) : all_(std::move(all)) {}
  void start() override {}
  std::exception_ptr failure() override { return nullptr; }
  bool all_ready() override { return true; }
  bool all_quiet() override { return true; }
  void go(time_point) override {}
  void stop() override {}
  void hurry() override {}
  void close() override {}
  task<bool> join(loop&, duration) override { co_return true; }
  std::vector<run::pool_member*> members() override { return all_; }
  const check::guard* guard() const override { return nullptr; }

 private:
  std::vector<run::pool_member*> all_;
};

part open_part(const real_clock& clock, const std::filesystem::path& folder) {
  part p;
  p.records = read_part(folder);
  const wire::Hello& agent = p.beginning().agent();
  p.link = std::make_unique<agent_link>(
      clock, host_facts{agent.name(), agent.host(), agent.cores()}, agent.name());
  return p;
}

void replay(part& p, const run_shape& shape) {
  agent_link& link = *p.link;
  link.assign(p.assignment(), shape);
  link.begin();
  const std::uint64_t connection = link.connect(p.assignment().run());
  std::uint64_t number = 0;
  for (const wire::PartRecord& record : p.records) {
    if (record.has_exchange()) {
      const wire::Exchange& x = record.exchange();
      link.learn({x.sent_ns(), x.received_ns(), x.answered_ns(), x.heard_ns(), x.drift_ppm()});
    } else if (record.has_orders()) {
      p.window_start_ns = record.orders().window_start_ns();
      p.window_end_ns = record.orders().window_end_ns();
    } else if (record.has_report()) {
      wire::FromAgent message;
      message.set_report(record.report());
      message.set_number(++number);
      link.have_read();
      link.take(connection, message);
    }
  }
  if (!link.run_is_over()) link.give_up("its part of the run ends early");
}

}  // namespace

struct parts::all {
  std::vector<part> parts;
  config::job job;
  std::string run_id;
  run_shape shape;
  run::window window;
  std::vector<far_member*> members;  // of all parts, by participant; null: in none of them
  std::optional<link_clocks> clocks;

  void find_members();
  void find_window();
  void drop_later_intervals();
  void tell(run::result& r) const;
};

parts::parts(const real_clock& clock, const std::vector<std::filesystem::path>& folders)
    : all_(std::make_unique<all>()) {
  std::set<std::string> agents;
  for (const auto& folder : folders) {
    part p = open_part(clock, folder);
    const std::string& run = p.assignment().run_id();
    if (!all_->parts.empty() && run != all_->run_id) {
      throw usage_error("{}: a part of run {}; the others are of run {}", folder.string(), run,
                        all_->run_id);
    }
    if (!agents.insert(p.beginning().agent().name()).second) {
      throw usage_error("{}: the part of agent {}, which there is already", folder.string(),
                        p.beginning().agent().name());
    }
    all_->run_id = run;
    all_->parts.push_back(std::move(p));
  }
  all_->job = config::parse_job(all_->parts.front().assignment().job(), "the parts' job");
}

parts::~parts() = default;

const config::job& parts::job() const {
  return all_->job;
}

const std::string& parts::run_id() const {
  return all_->run_id;
}

void parts::all::find_members() {
  members.resize(shape.participants);
  std::vector<agent_link*> of_participant(shape.participants);
  for (const part& p : parts) {
    p.link->with_members([&](const auto& those) {
      for (const auto& m : those) {
        members[m->number()] = m.get();
        of_participant[m->number()] = p.link.get();
      }
    });
  }
  clocks.emplace(std::move(of_participant), shape.clients);
}

// What all hosts share. Agents that lost their coordinator ended it themselves, each a moment later
// or earlier: so it ends with an interval, and later ones are left out.
void parts::all::find_window() {
  std::int64_t start_ns = 0, end_ns = run::window::never;
  for (const part& p : parts) {
    if (p.window_start_ns == 0) continue;
    start_ns = std::max(start_ns, p.link->to_ours(p.window_start_ns));
    if (p.window_end_ns != 0) end_ns = std::min(end_ns, p.link->to_ours(p.window_end_ns));
  }
  for (const far_member* m : members) {
    if (m != nullptr && m->lost()) end_ns = std::min(end_ns, m->known_until_ns());
  }
  if (start_ns == 0 || end_ns == run::window::never || end_ns <= start_ns) {
    throw usage_error("run {}: its measurement had not begun when the coordinator was lost",
                      run_id);
  }
  const std::int64_t whole = (end_ns - start_ns) / run::interval_length.count();
  if (whole > 0) end_ns = start_ns + whole * run::interval_length.count();
  window.start_ns = start_ns;
  window.end_ns = end_ns;
}

void parts::all::drop_later_intervals() {
  const std::int64_t last_ns = window.end_ns.load() + run::interval_length.count() / 2;
  for (far_member* m : members) {
    if (m == nullptr) continue;
    for (auto& whole : m->recorder().take()) {
      if (whole->end_ns <= last_ns) m->recorder().deliver(std::move(whole));
    }
  }
}

void parts::all::tell(run::result& r) const {
  std::vector<run::death> deaths, missing;
  for (const part& p : parts) {
    std::vector<std::uint32_t> numbers(p.assignment().numbers().begin(),
                                       p.assignment().numbers().end());
    r.hosts.push_back(host_of(*p.link, std::move(numbers)));
  }
  for (std::uint32_t n = 0; n < members.size(); ++n) {
    if (members[n] == nullptr) {
      missing.push_back({n, 0, r.window_start_ns, r.window_start_ns});
    } else if (members[n]->death()) {
      deaths.push_back(*members[n]->death());
    }
  }
  run::mark_deaths(r, deaths, members.size());
  missing.insert(missing.end(), deaths.begin(), deaths.end());
  run::count_absent(r, missing, members.size());
  r.how = run::ending::interrupted;
  r.why = fmt::format("merged from {} agent{}, because their coordinator was lost", parts.size(),
                      parts.size() == 1 ? "" : "s");
  const auto absent = std::ranges::count(members, nullptr);
  if (absent > 0) {
    r.why += fmt::format("; what {} of {} participants did is in none of these parts", absent,
                         members.size());
  }
}

run::result parts::merge(
    const lock_kind& lock, const workload_kind& workload, const std::string& scenario,
    const std::function<void(const run::result&)>& on_window,
    const std::function<void(const run::interval&, std::int64_t at_ns)>& on_interval) {
  all& a = *all_;
  const wire::Assignment& told = a.parts.front().assignment();
  const std::size_t clients = a.job.clients_in_all();
  a.shape = {told.participants(),
             static_cast<std::uint32_t>(a.job.instances),
             static_cast<std::uint32_t>(a.job.clients),
             a.job.keys.count(clients),
             lock.has.has(feature::optimistic),
             told.notes_answers()};
  for (part& p : a.parts) replay(p, a.shape);
  a.find_members();
  a.find_window();
  a.drop_later_intervals();

  run::result r;
  r.run_id = a.run_id;
  r.job = a.job;
  r.scenario = scenario;
  r.lock = lock.name;
  r.implementation = lock.algorithm;
  r.workload = workload.name;
  r.target = told.shown_target();
  r.topology = told.topology();
  r.lock_has = lock.has;
  r.promises = lock.promises;
  r.holders = told.holders();
  r.host = run::describe_host();
  r.workers = told.participants();
  r.started_wall_ns = a.parts.front().beginning().wall_ns();
  r.window_start_ns = a.window.start_ns;
  r.window_ns = a.window.end_ns - a.window.start_ns;
  on_window(r);

  std::vector<run::pool_member*> known;
  for (far_member* m : a.members) {
    if (m != nullptr) known.push_back(m);
  }
  ended_pool pool(known);
  const auto shape = run::shape_of({lock, a.job, told.holders(), &*a.clocks});
  run::collector all_of_it(pool, shape, a.window, on_interval);
  all_of_it.collect();
  std::int64_t end_ns = a.window.end_ns;
  for (const far_member* m : a.members) {
    if (m != nullptr && m->known_until_ns() != run::window::never) {
      end_ns = std::max(end_ns, m->known_until_ns());
    }
  }
  all_of_it.finish(end_ns);
  all_of_it.fill(r);
  r.grants_in_all = static_cast<std::uint64_t>(all_of_it.sum(&run::gauges::granted));
  for (const run::pool_member* m : known) r.sent += m->sent();
  a.tell(r);
  r.steady = run::stability_of(r.timeline);
  double cores = 0;
  for (const run::load_host& h : r.hosts) cores += h.cores;
  run::judge_run(r, std::max(1.0, cores));
  return r;
}

}  // namespace lockmark::agents
