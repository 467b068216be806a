// For tests: a lock client that misbehaves on request. It locks nothing: each client of a run must
// have a key of its own.
//
//   odd_adapter MODE    from the start, or from the sixth acquire on
//
// A call takes 2 ms in the modes one_worker (a thread reads, another one works for all clients),
// one_by_one (the next request is read when the last one is answered) and no_stamps.
#include <poll.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <deque>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "harness/time/clock.hpp"

namespace {

using json = nlohmann::json;

constexpr int good_acquires = 5;

std::int64_t monotonic_ns() {
  return lockmark::to_ns(lockmark::real_clock{}.now());
}

void say(const json& line) {
  std::cout << line << std::endl;
}

[[noreturn]] void sleep_for_ever() {
  while (true) pause();
}

// The answer to hello; false: stop here.
bool begin_oddly(const std::string& mode) {
  if (mode == "silent") sleep_for_ever();
  if (mode == "garbage_at_hello") std::cout << "\x1b[31mWelcome!\n" << std::flush;
  if (mode == "not_ready") say({{"ready", false}});
  if (mode == "exits_at_hello") std::cerr << "no license\n", _exit(4);
  if (mode == "closes_stdout_at_hello") close(STDOUT_FILENO), sleep_for_ever();
  if (mode == "wrong_version") say({{"ready", true}, {"protocol", 2}});
  if (mode == "failed") say({{"failed", "no answer from 10.0.0.1:6379"}});
  return mode == "garbage_at_hello" || mode == "not_ready" || mode == "wrong_version";
}

// Misbehaves instead of answering; if it returns, a good answer follows.
void break_off(const std::string& mode, const json& good) {
  if (mode == "exits") std::cerr << "out of luck\n", _exit(3);
  if (mode == "killed") kill(getpid(), SIGKILL);
  if (mode == "closes_stdout") close(STDOUT_FILENO), sleep_for_ever();
  if (mode == "closes_stdin") close(STDIN_FILENO);
  if (mode == "stops_reading") sleep_for_ever();
  if (mode == "garbage") std::cout << "INFO \x1b[1mlocked\tk0\n" << std::flush;
  if (mode == "answers_twice") say(good);
  if (mode == "ready_twice") say({{"ready", true}});
  if (mode == "fails_later") say({{"failed", "the pool is exhausted"}});
  if (mode == "endless_line") {
    const std::string some(1'000'000, 'x');
    for (int n = 0; n < 100; ++n) std::cout << some << std::flush;
    sleep_for_ever();
  }
  if (mode == "flood") {
    while (std::cout << "{\"alive\":true}\n") continue;
    _exit(0);
  }
}

// The answer with a fault put into it.
json spoil(const std::string& mode, json answer) {
  if (mode == "unknown_outcome") answer["outcome"] = "locked";
  if (mode == "unknown_reason") answer["outcome"] = "refused", answer["why"] = "tired";
  if (mode == "text_for_an_id") answer["id"] = std::to_string(answer["id"].get<int>());
  if (mode == "answers_unasked") answer["id"] = 1'000'000;
  if (mode == "valid_for_ever") answer["valid_ms"] = 9'223'372'036'854'775'807;
  for (const char* stamp : {"received", "began", "ended", "sent"}) {
    if (mode == "wall_clock") answer[stamp] = lockmark::wall_time_ns();
    if (mode == "microseconds") answer[stamp] = answer[stamp].get<std::int64_t>() / 1'000;
  }
  if (mode == "stamps_out_of_order") std::swap(answer["began"], answer["ended"]);
  if (mode == "no_began") answer.erase("began");
  return answer;
}

class adapter {
 public:
  explicit adapter(std::string mode) : mode_(std::move(mode)) {}

  void serve(const json& call, std::int64_t received) {
    const std::string op = call["op"];
    if (op == "close") _exit(0);
    acquires_ += op == "acquire" ? 1 : 0;
    const bool odd = acquires_ > good_acquires;
    if (odd && mode_ == "never_answers") return;
    if (mode_ == "answers_nothing" && op != "wipe") return;
    const json good = answer_to(call, received);
    if (odd) break_off(mode_, good);
    say(odd ? spoil(mode_, good) : good);
  }

 private:
  json answer_to(const json& call, std::int64_t received) {
    const std::int64_t began = monotonic_ns();
    const bool slow = mode_ == "one_worker" || mode_ == "one_by_one" || mode_ == "no_stamps";
    if (slow) poll(nullptr, 0, 2);
    while (monotonic_ns() < began + 10'000) continue;  // simulates the library's work
    const std::int64_t ended = mode_ == "no_time" ? began : monotonic_ns();
    json good{{"id", call["id"]}, {"outcome", "granted"}};
    if (mode_ != "no_stamps") {
      good.update({{"received", received}, {"began", began}, {"ended", ended}, {"sent", ended}});
    }
    if (call["op"] == "acquire") good["valid_ms"] = call["lease_ms"];
    if (mode_ == "falling_tokens") good["token"] = 1'000'000 - acquires_;
    if (mode_ == "growing_tokens") good["token"] = acquires_;
    return good;
  }

  std::string mode_;
  int acquires_ = 0;
};

// Reads each request at once, and lets one thread work for all clients.
[[noreturn]] void serve_by_one_worker(adapter served) {
  std::mutex mutex;
  std::condition_variable more;
  std::deque<std::pair<json, std::int64_t>> calls;
  std::thread([&] {
    while (true) {
      std::unique_lock lock(mutex);
      more.wait(lock, [&] { return !calls.empty(); });
      const auto [call, received] = std::move(calls.front());
      calls.pop_front();
      lock.unlock();
      served.serve(call, received);
    }
  }).detach();
  std::cin.tie(nullptr);  // the worker writes
  for (std::string line; std::getline(std::cin, line);) {
    const std::int64_t received = monotonic_ns();
    const std::lock_guard lock(mutex);
    calls.emplace_back(json::parse(line), received);
    more.notify_one();
  }
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "good";
  std::string line;
  std::getline(std::cin, line);
  // prepare() and wipe() say hello as well; a program that fails only there is a mode, too.
  if (!begin_oddly(mode) && mode != "failed") {
    json features = json::array({"lease"});
    if (mode != "without_renewal") features.push_back("renewable");
    say({{"ready", true}, {"version", "odd 1"}, {"features", features}});
  }
  adapter served(mode);
  if (mode == "one_worker") serve_by_one_worker(std::move(served));
  while (std::getline(std::cin, line)) {
    const std::int64_t received = monotonic_ns();
    served.serve(json::parse(line), received);
  }
  if (mode == "closes_stdin") sleep_for_ever();
}
