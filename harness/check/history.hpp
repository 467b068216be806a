// The lock events of a run, as a stream of small records in order of time.
//
// Each worker thread notes events as it stamps them; one history_checker reads them, merged. All
// findings on exclusion, tokens, hand-off and fairness come from this one stream.
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace lockmark::check {

enum class event_kind : std::uint8_t {
  began,      // a client wants the key: its attempt is sent; token = ns since it was due
  released,   // the holder starts to release
  died,       // the holder's process has died, so its hold is over
  ended,      // an attempt ended without a grant; token = its answer
  granted,    // the client learnt that it holds the key; token
  committed,  // optimistic: the commit was confirmed; token = the version it replaced
  doubtful,   // optimistic: a commit in doubt; token = the version it would replace
  answered,   // a release was answered; token = the answer; noted only for a history of the run
  refused,    // a try was answered without a grant; token = the refusal
  promised,   // the holder will leave the resource alone from a time on; token = that time, in ns
};

// How a call ended; the token of some events.
enum class answer : std::uint8_t { done, refused, in_doubt };

struct event {
  std::int64_t at_ns = 0;
  std::uint64_t token = 0;
  std::uint32_t key = 0;
  std::uint32_t client = 0;  // counts over all instances of the run
  event_kind kind = event_kind::began;
  // Of a release: the client's loop turned since the grant, so that the answers of others could be
  // read during the hold.
  bool lasted = false;
  // Of a reader's attempt: beside its hold, other readers may hold the key.
  bool shared = false;
  bool cut = false;           // of an end: the client's process died before it
  std::uint32_t pipe_ns = 0;  // of a grant: taken out of its response
};

class event_writer;  // event_ring.hpp

// One thread's events. note() is for the writer only and costs a few nanoseconds; publish() hands
// over the noted events with the promise that none earlier than `complete_until_ns` will follow;
// collect() is for the reader.
//
// With an outlet, the reader is another process, which sees each event as soon as it is noted.
class journal {
 public:
  explicit journal(event_writer* outlet = nullptr) : outlet_(outlet) {}

  // REQUIRES: at_ns never decreases.
  void note(const event& e) {
    if (outlet_ != nullptr) [[unlikely]] {
      return pass_on(e);
    }
    noted_.push_back(e);
  }

  std::size_t pending() const { return noted_.size(); }

  void publish(std::int64_t complete_until_ns) {
    if (outlet_ != nullptr) return promise(complete_until_ns);
    const std::lock_guard guard(mutex_);
    if (published_.empty()) {
      published_.swap(noted_);
    } else {
      published_.insert(published_.end(), noted_.begin(), noted_.end());
      noted_.clear();
    }
    complete_until_ns_ = complete_until_ns;
  }

  // Appends everything published since the last call to `to`; returns the promise. The memory of an
  // empty `to` goes to the next events.
  std::int64_t collect(std::vector<event>& to) {
    std::vector<event> taken;
    std::int64_t complete_until_ns = 0;
    const bool exchanges = to.empty();
    {
      const std::lock_guard guard(mutex_);
      published_.swap(exchanges ? to : taken);
      complete_until_ns = complete_until_ns_;
    }
    if (!exchanges) to.insert(to.end(), taken.begin(), taken.end());
    return complete_until_ns;
  }

 private:
  void pass_on(const event& e);
  void promise(std::int64_t complete_until_ns);

  event_writer* const outlet_;
  std::vector<event> noted_;
  std::mutex mutex_;
  std::vector<event> published_;
  std::int64_t complete_until_ns_ = 0;
};

// Whether `a` is read before `b`. At the same instant a release (or a death) precedes a grant,
// because holds are half-open intervals: [granted, release sent).
inline bool before(const event& a, const event& b) {
  return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.kind < b.kind;
}

}  // namespace lockmark::check
