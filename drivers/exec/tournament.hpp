// Runs a test program's matches concurrently; the tests wait for their results.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace lockmark::exec {

// Matches played by several threads while the tests wait for the results: clients take seconds to
// start, and most rounds wait for something to end.
class tournament {
 public:
  void add(std::string suite, std::function<void()> match) {
    matches_.emplace_back(std::move(suite), std::move(match));
  }

  // Starts the matches of the tests that will run.
  void begin() {
    std::erase_if(matches_, [](const auto& m) { return !is_wanted(m.first); });
    for (int n = 0; n < at_once; ++n) threads_.emplace_back([this] { play(); });
  }

  void end() {
    next_ = matches_.size();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }

 private:
  static constexpr int at_once = 4;

  static bool is_wanted(const std::string& suite) {
    const auto& all = *testing::UnitTest::GetInstance();
    for (int n = 0; n < all.total_test_suite_count(); ++n) {
      const auto& s = *all.GetTestSuite(n);
      if (s.name() == suite) return s.should_run();
    }
    return false;
  }

  void play() {
    for (std::size_t n = next_++; n < matches_.size(); n = next_++) matches_[n].second();
  }

  std::vector<std::pair<std::string, std::function<void()>>> matches_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> next_ = 0;
};

// Starts the tournament once it is known which tests will run.
class season final : public testing::Environment {
 public:
  explicit season(tournament& t) : matches_(t) {}
  void SetUp() override { matches_.begin(); }
  void TearDown() override { matches_.end(); }

 private:
  tournament& matches_;
};

inline tournament& all_matches() {
  static tournament all;
  return all;
}

// A result computed by a tournament thread for tests: all rounds of a pair are one match.
template <class Result>
class match {
 public:
  explicit match(const std::string& suite, std::function<Result()> play)
      : play_(std::packaged_task<Result()>{std::move(play)}), result_(play_.get_future()) {
    all_matches().add(suite, [this] { play_(); });
  }

  // Waits for the match, and rethrows its exception.
  const Result& result() const { return result_.get(); }

 private:
  std::packaged_task<Result()> play_;
  std::shared_future<Result> result_;
};

}  // namespace lockmark::exec
