#include "program/execute.hpp"

#include <fmt/core.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>

#include "deploy/inject/local_injector.hpp"
#include "drivers/combined.hpp"
#include "harness/config/redaction.hpp"
#include "harness/run/folder.hpp"
#include "harness/run/guarding.hpp"
#include "harness/run/result_json.hpp"
#include "program/agents.hpp"
#include "program/participants.hpp"

namespace lockmark::cli {
namespace {

using namespace std::chrono_literals;

std::string new_run_id(std::int64_t wall_ns) {
  std::string id = compact_utc(wall_ns);
  std::erase(id, '-');
  return id + fmt::format("{:04x}", std::random_device{}() & 0xffffU);
}

std::string folder_name(const std::string& run_id, const std::string& lock,
                        const std::string& scenario) {
  std::string name = run_id + "-" + lock + "-" + scenario;
  for (char& c : name) {
    if (c == '/') c = '-';
  }
  return name;
}

// Measures the harness itself, without a server: own keys, closed loop, memory lock.
run::floor_measurement measure_floor(const catalogue& known, const config::job& of,
                                     const real_clock& clock) {
  config::job job = config::default_job();
  job.lock = "memory/lock";
  job.instances = of.instances;
  job.clients = of.clients;
  job.threads = of.threads;
  job.keys.kind = config::key_choice::shape::own;
  job.warmup = of.floor / 10;
  job.stop_duration = of.floor;
  job.stop_samples = 0;
  job.floor = 0s;
  const lock_kind& lock = known.lock(job.lock);
  const std::string id = "floor";
  const auto behind = lock.make({"memory:", names_of(job, id), {}});
  run::setup s{.job = job,
               .lock = lock,
               .behind = *behind,
               .workload = known.workload("mutex"),
               .run_id = id,
               .target = "memory:",
               .topology = "memory"};
  s.interrupts = &interrupts();
  const run::result r = run::run_job(s, clock);
  const stats::histogram& response = r.totals[run::series::response];
  return {r.tps(), response.value_at_quantile(0.5), response.value_at_quantile(0.99)};
}

// Lock clients in processes of their own do not count their commands; their server does.
std::unique_ptr<driver> make_driver(const catalogue& known, const lock_kind& lock,
                                    const resolved_target& where, const driver_setup& setup) {
  auto made = lock.make(setup);
  if (backend_of(lock.name) != "exec" || where.form == "exec") return made;
  const lock_kind& usual = known.lock(known.usual_lock(where.form, config::default_job()));
  return counted_by(std::move(made),
                    usual.make({where.url, setup.run_names, lock_options(usual, {})}));
}

// Refuses an `rtt` that would not be one: clients reach servers that Sentinel names by themselves,
// and so those that a Cluster names of which the target has one node only.
void check_network(const resolved_target& where, const config::job& job) {
  if (job.rtt == 0s) return;
  const auto target = config::parse_target(where.url);
  if (target->hosts.empty()) {
    throw usage_error("rtt: {} has no network between clients and servers", where.redacted);
  }
  const bool others_are_named =
      target->scheme.ends_with("+sentinel") || target->scheme.ends_with("+clusters");
  if (where.own || !others_are_named || !target->nat.empty()) return;
  throw usage_error(
      "rtt: lockmark can only delay servers that the target names; name the masters and replicas "
      "of "
      "{} by ?nat=HOST:PORT>HOST:PORT,...",
      where.redacted);
}

// Null for a job with neither faults nor a network of its own.
std::unique_ptr<inject::local_injector> injector_for(resolved_target& where, const config::job& job,
                                                     const std::string& run_id) {
  const auto plans = faults::read_faults(job.faults);
  if (plans.empty() && job.rtt == 0s) return nullptr;
  check_network(where, job);
  inject::local_injector::environment environment;
  environment.own = where.own ? &*where.own : nullptr;
  environment.between = where.between.get();
  environment.url = where.url;
  environment.participants = static_cast<std::uint32_t>(job.participants);
  environment.in_programs = job.lock.starts_with("exec/");
  environment.key = fmt::format("lockmark:{}:k0", run_id);
  environment.latency = {job.rtt / 2, job.rtt_jitter / 2};
  return std::make_unique<inject::local_injector>(std::move(environment), plans);
}

// Shows the run to Prometheus from its start, and to the callback that may end it early.
void show(const run_request& e, run::setup& s, std::atomic<bool>& seen_enough) {
  if (e.exporter != nullptr) e.exporter->begin(run::blank_result(s));
  if (e.exporter == nullptr && !e.is_enough) return;
  s.seen_enough = &seen_enough;
  s.on_live = [&e, &seen_enough](const run::live_view& v) {
    if (e.exporter != nullptr) e.exporter->update(v);
    if (e.is_enough && e.is_enough(v)) seen_enough = true;
  };
}

// What agents cannot do, and the participants of a job that does not say how many.
void prepare_for_agents(const resolved_target& where, const agent_group& from, config::job& job) {
  if (where.form == "memory") {
    throw usage_error("--agents: machines need a server between them, and {} has none",
                      where.redacted);
  }
  if (job.rtt > 0s) throw usage_error("rtt: lockmark's proxies are not on the way of agents");
  for (const faults::fault_plan& plan : faults::read_faults(job.faults)) {
    if (!faults::hits_participants(plan)) continue;
    throw usage_error("faults: {} is for participants on this machine, not for agents'",
                      faults::name_of(plan));
  }
  if (job.participants == 0) job.participants = from.participants_for(job);
}

// The participants of a job: processes of this machine, or agents' on others; or neither.
struct workers_apart {
  workers_apart(const resolved_target& where, const run::process_pool_setup& who,
                const real_clock& clock, agent_group* from) {
    if (from == nullptr) {
      here = make_participants(where, who, clock);
    } else {
      elsewhere = from->make_pool(who);
    }
  }
  run::separate_pool* pool() const { return elsewhere ? elsewhere.get() : here.get(); }

  std::unique_ptr<run::process_worker_pool> here;
  std::unique_ptr<run::separate_pool> elsewhere;
};

// A command hidden when the job was stored must not be run.
void refuse_hidden(const config::job& job) {
  const std::string key = config::hidden_command(job);
  if (key.empty()) return;
  throw usage_error("{}: the command was hidden when the job was stored; give it by --set {}=...",
                    key, key);
}

void check_history(const lock_kind& lock, const config::job& job) {
  if (job.read_share > 0) {
    throw usage_error(
        "--history: a history is of a mutex, and read_share lets readers in together");
  }
  if (!lock.has.has(feature::optimistic)) return;
  throw usage_error("--history: lock {} excludes nobody; a history is of acquire and release",
                    lock.name);
}

// How many may hold a key, of a job that fits lock and workload.
std::uint32_t checked_holders(const run_request& e, const lock_kind& lock,
                              const workload_kind& workload, const option_values& options) {
  run::check_fit(e.job, lock, workload);
  const std::uint32_t holders = lock.holders == nullptr ? 1 : lock.holders(options);
  run::check_guard(e.job, lock, holders);
  if (e.history) check_history(lock, e.job);
  return holders;
}

void write_history(run::run_folder& folder, run::setup& s) {
  folder.keep_history(static_cast<std::uint32_t>(s.job.clients_in_all()),
                      s.lock.has.has(feature::fencing_token));
  s.on_event = [&folder](const check::event& event) { folder.add(event); };
}

// `begun`: whether the folder contains more than the job; it may change during the run.
run::result measure(const run::setup& s, const real_clock& clock, metrics::exporter* exporter,
                    const run::run_folder& folder, const bool& begun) {
  try {
    run::result measured = run::run_job(s, clock);
    if (exporter != nullptr) exporter->end(measured);
    return measured;
  } catch (...) {
    if (!begun) std::filesystem::remove_all(folder.path());
    if (exporter != nullptr) exporter->forget();
    throw;
  }
}

// The result is reported even if it could not be written.
nlohmann::ordered_json write_down(run::run_folder& folder, run::result& measured) {
  try {
    return folder.finish(measured);
  } catch (const run::write_error& e) {
    measured.how = run::ending::failed;
    measured.why = e.what();
  }
  try {
    return folder.finish(measured);  // run.json at least may fit
  } catch (const run::write_error&) {
    return run::to_json(measured);  // the folder's own run.json says that it is unfinished
  }
}

// Writes the result; resources of the stuck call can only be freed by ending the process.
[[noreturn]] void give_up(run::run_folder& folder, const bool& begun, run::result& measured,
                          const std::string& sentence) {
  if (begun) {
    write_down(folder, measured);
  } else {
    std::error_code ignored;
    std::filesystem::remove_all(folder.path(), ignored);
  }
  fmt::print(stderr, "\nlockmark: {}\n", sentence);
  if (begun) fmt::print(stderr, "What was measured until then: {}\n", folder.path().string());
  std::_Exit(2);
}

std::atomic<int> signals_seen{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void count_signal(int number) {
  if (signals_seen.fetch_add(1) >= 2) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}

}  // namespace

const lock_kind& lock_for(const catalogue& known, const resolved_target& where, config::job& job) {
  if (job.lock.empty()) job.lock = known.usual_lock(where.form, job);
  const lock_kind& lock = known.lock_for(job);
  if (!runs_on(lock, where.form)) {
    throw usage_error("lock {} runs on {}, and {} is a target of the form {}", lock.name,
                      lock.topologies, where.redacted, where.form);
  }
  return lock;
}

names names_of(const config::job& job, const std::string& run_id) {
  names n{run_id, {}};
  const std::uint64_t keys = job.keys.count(job.clients_in_all());
  n.keys.reserve(keys);
  for (std::uint64_t k = 0; k < keys; ++k) n.keys.push_back(fmt::format("k{}", k));
  return n;
}

const std::atomic<int>& interrupts() {
  static const bool installed = [] {
    std::signal(SIGINT, count_signal);
    std::signal(SIGTERM, count_signal);
    return true;
  }();
  static_cast<void>(installed);
  return signals_seen;
}

executed execute(const catalogue& known, resolved_target& where, run_request e) {
  refuse_hidden(e.job);
  const lock_kind& lock = lock_for(known, where, e.job);
  if (e.job.workload == "auto") e.job.workload = known.natural_workload(lock);
  const workload_kind& workload = known.workload(e.job.workload);
  const auto options = lock_options(lock, e.job);
  if (e.from != nullptr) prepare_for_agents(where, *e.from, e.job);
  const std::uint32_t holders = checked_holders(e, lock, workload, options);

  const real_clock clock;
  const std::string run_id = new_run_id(wall_time_ns());
  const auto injector = injector_for(where, e.job, run_id);
  // With participants, this process's own requests are neither part of the load nor subject to its
  // faults.
  const bool apart = injector && e.job.participants > 0;
  const std::string url = injector && !apart ? injector->url_of() : where.url;
  const auto behind = make_driver(known, lock, where, {url, names_of(e.job, run_id), options});
  const auto way_of = [&](std::uint32_t participant) {
    return injector ? injector->url_of(participant) : where.url;
  };
  const run::process_pool_setup apart_setup{.job = e.job,
                                            .lock = lock,
                                            .workload = workload,
                                            .options = options,
                                            .holders = holders,
                                            .run_id = run_id,
                                            .target_of = way_of,
                                            .notes_answers = e.history,
                                            .shown_target = where.redacted,
                                            .topology = where.topology};
  const workers_apart workers(where, apart_setup, clock, e.from);
  const auto control = control_of(workers.here.get());
  if (injector) injector->bind(control.get());
  run::run_folder folder(e.runs / folder_name(run_id, e.job.lock, e.scenario), e.job);

  run::setup s{.job = e.job,
               .lock = lock,
               .behind = *behind,
               .workload = workload,
               .holders = holders,
               .run_id = run_id,
               .target = where.redacted,
               .topology = where.topology};
  if (e.job.floor > 0s) s.measure_floor = [&] { return measure_floor(known, e.job, clock); };
  s.injector = injector.get();
  s.participants = workers.pool();
  s.interrupts = &interrupts();
  s.on_progress = e.on_progress;
  s.on_finding = e.on_finding;
  s.on_interval = [&](const run::interval& i, std::int64_t at_ns) { folder.add(i, at_ns); };
  s.scenario = e.scenario;
  s.arguments = e.arguments;
  std::atomic<bool> seen_enough{false};
  show(e, s, seen_enough);
  if (e.history) write_history(folder, s);
  bool begun = false;
  s.on_stuck = [&](run::result& measured, const std::string& sentence) {
    give_up(folder, begun, measured, sentence);
  };
  s.on_window = [&](const run::result& so_far) {
    folder.begin(so_far);
    begun = true;
    if (e.exporter != nullptr) e.exporter->begin(so_far);
  };
  run::result measured = measure(s, clock, e.exporter, folder, begun);
  auto written = write_down(folder, measured);
  const std::string name = folder.path().filename().string();
  return {std::move(measured), {name, std::move(written)}, folder.path(), seen_enough};
}

int exit_status(const run::result& r) {
  if (r.violations() > 0) return 1;
  if (r.how == run::ending::server_lost || r.how == run::ending::failed) return 2;
  if (r.how == run::ending::interrupted || !r.verdict.valid) return 3;
  return 0;
}

}  // namespace lockmark::cli
