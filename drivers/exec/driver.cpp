#include "drivers/exec/driver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "drivers/exec/session.hpp"
#include "harness/base/redact.hpp"

namespace lockmark::exec {
namespace {

class exec_driver final : public driver {
 public:
  exec_driver(const driver_setup& setup, recipe what);

  task<description> prepare(loop& l, time_point deadline) override;
  task<void> wipe(loop& l, time_point deadline) override;
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override;
  task<server_counters> counters(loop&, time_point) override { co_return server_counters{}; }
  // A starting program, at worst a Java machine, keeps a core busy.
  std::uint32_t logins_at_once() const override {
    return std::clamp(std::thread::hardware_concurrency(), 1U, logins_in_all);
  }

 private:
  std::string name() const;
  std::unique_ptr<link> start(loop& l) const;
  task<answer> greet(link& client, loop& l, instance who, time_point deadline) const;
  void check(const answer& ready) const;

  driver_setup setup_;
  recipe what_;
  config::target server_;
  // prepare() failed: no client has reached a server, so there is nothing to wipe.
  bool never_ready_ = false;
};

config::target read_target(const std::string& url, const recipe& what) {
  const auto read = config::parse_target(url);
  if (!read) throw usage_error("{}: {}", what.lock, read.error().sentence);
  const auto& known = what.schemes;
  if (std::find(known.begin(), known.end(), read->scheme) == known.end()) {
    throw usage_error("{} does not run on {}: targets; it does on {}", what.lock, read->scheme,
                      fmt::join(known, ", "));
  }
  return *read;
}

exec_driver::exec_driver(const driver_setup& setup, recipe what)
    : setup_(setup), what_(std::move(what)), server_(read_target(setup_.target, what_)) {}

std::string exec_driver::name() const {
  if (!what_.program.empty()) return what_.program;
  return fmt::format("{} on {}", what_.lock, server_.redacted());
}

std::unique_ptr<link> exec_driver::start(loop& l) const {
  std::vector<std::string> secrets = secrets_in(setup_.target, server_);
  // A user's command may contain further secrets.
  const auto echoes = echoes_of(fmt::format("{}", fmt::join(what_.argv, " ")));
  secrets.insert(secrets.end(), echoes.begin(), echoes.end());
  return std::make_unique<link>(l, what_.argv, name(), std::move(secrets));
}

task<answer> exec_driver::greet(link& client, loop& l, instance who, time_point deadline) const {
  const greeting g{.url = setup_.target,
                   .server = server_,
                   .lock = what_.lock,
                   .run = setup_.run_names.run,
                   .keys = setup_.run_names.keys,
                   .prefix = key_prefix(server_.scheme, setup_.run_names.run),
                   .options = setup_.options,
                   .who = std::move(who),
                   .within = deadline - l.now()};
  std::string hello = hello_line(g);
  const time_point limit = l.now() + what_.hello_within;
  answer ready = co_await client.greet(std::move(hello), limit);
  check(ready);
  co_return ready;
}

features named_by(const answer& ready) {
  features said;
  for (const std::string& name : ready.features) said = said | feature_named(name);
  return said;
}

// The features that a client announces must include all that the lock's row promises.
void exec_driver::check(const answer& ready) const {
  if (ready.features.empty()) return;
  const features missing = what_.has.without(named_by(ready));
  if (missing.empty()) return;
  throw usage_error("{}: the program says that it lacks: {}", name(), to_string(missing));
}

task<description> exec_driver::prepare(loop& l, time_point deadline) {
  const auto client = start(l);
  std::exception_ptr failure;
  description about;
  try {
    instance nobody{.id = "prepare", .clients = 0};
    const answer ready = co_await greet(*client, l, std::move(nobody), deadline);
    about = ready.about;
    about.emplace_back("client.version", ready.text);
    if (!ready.features.empty()) {
      about.emplace_back("client.features", fmt::format("{}", fmt::join(ready.features, ", ")));
    }
    for (auto& [key, text] : about) text = client->without_secrets(text);
  } catch (...) {
    failure = std::current_exception();
    never_ready_ = true;
  }
  co_await client->end();
  if (failure) std::rethrow_exception(failure);
  co_return about;
}

task<void> exec_driver::wipe(loop& l, time_point deadline) {
  if (never_ready_) co_return;
  const auto client = start(l);
  std::exception_ptr failure;
  try {
    instance nobody{.id = "wipe", .clients = 0};
    co_await greet(*client, l, std::move(nobody), deadline);
    const time_point until = std::max(deadline, l.now() + std::chrono::seconds{1});
    std::string line = call_line(operation::wipe, 1, request{}, until - l.now(), duration{});
    const auto said = co_await client->ask(1, std::move(line), until);
    if (!said || !said->ending->done()) {
      if (client->dead()) throw no_server(client->sentence());
      throw no_server(client->sentence("could not remove what the run left"));
    }
  } catch (...) {
    failure = std::current_exception();
  }
  co_await client->end();
  if (failure) std::rethrow_exception(failure);
}

task<std::unique_ptr<session>> exec_driver::open(loop& l, instance who, time_point deadline) {
  const time_point by = std::min(deadline, l.now() + who.login_within);  // one program, one login
  auto client = start(l);
  std::exception_ptr failure;
  bool renews = true;
  try {
    const answer ready = co_await greet(*client, l, std::move(who), by);
    renews = !what_.may_have.has(feature::renewable) || named_by(ready).has(feature::renewable);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) {
    co_await client->end();
    std::rethrow_exception(failure);
  }
  co_return std::make_unique<exec_session>(l, std::move(client), renews);
}

}  // namespace

std::unique_ptr<driver> make_driver(const driver_setup& setup, recipe what) {
  return std::make_unique<exec_driver>(setup, std::move(what));
}

}  // namespace lockmark::exec
