#include "program/topics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "harness/report/text.hpp"

namespace lockmark::cli {
namespace {

constexpr std::array all_topics{
    topic{"closed-loop", "Closed loop and open loop: when the next attempt begins",
          R"(
closed: a client makes its next attempt when its last one has ended, like the threads of a
program. A slow lock slows its own load down, so the throughput is what the lock can do with so
many clients.

open, poisson: attempts are due at a rate (--rate), whether or not earlier ones have ended, like
the requests of users who know nothing of each other. Where the lock cannot keep up, waits grow
for as long as the run lasts. partly_open: sessions begin at a rate, and each makes load.cycles
attempts.

Take a closed loop to learn how much a lock can do, and an open one to learn how long its users
wait at a given rate. Response counts from when an attempt was due, service from when it was sent;
in a closed loop the two are almost the same.

  lockmark run contended --on local:redis
  lockmark run open_rate --on local:redis --rate 100/s)"},
    topic{"hand-off", "Hand-off: how long a released key stays free",
          R"(
The time from the start of a release to the next grant of that key: a transfer if another client
gets it, a self-reacquire if the same one does. Tables show the p50 of transfers.

On a key that is always wanted, hold and hand-off are all there is: grants/s = 1 / (hold +
hand-off). Holds of 5 ms and hand-offs of 1 ms cannot give more than 167 grants/s, however many
clients there are and however fast the server is.

A lock that polls hands off when the next client happens to ask; one that notifies takes a round
trip or two. A queue is fair but always hands off to another client; without one, the client that
released often comes first again, which is fast and starves the others. See the column fairness.)"},
    topic{"bounds", "Bounds: >= and <= instead of a figure",
          R"(
A figure is a bound where the harness or the machine was in the way and not the lock: actual
performance is at least this good. Throughput then reads >= 12000, times read <= 1.2 ms. The
reasons stand below the table: a load thread was busy, the cores were short, the host stalled.

Do not rank a bound below a measured row: it may be better. Give the harness more cores, or a
machine of its own, or compare under contention, where the lock is the limit.

> T is something else: so many attempts were not granted that the quantile lies beyond T, which is
the wait timeout or the latest grant. INVALID means that the figures are wrong. Whether the lock
held is another question, which has its own answer in each of these cases.)"},
    topic{"safety", "Safety classes: what a lock promises at best",
          R"(
The class is what the lock's design promises, not what was measured. The verdict (held, NOT HELD,
not tested) is of one run and of what was broken in it.

none: no exclusion is promised. A lock as it is often written and is wrong, or an optimistic one,
which excludes nobody and refuses the later commit.

best-effort: a lease, and nothing that the resource could check. Two hold it when a holder is
paused for longer than its lease, a clock jumps, or a failover loses the lock.

lease+token: the same, but each grant has a higher number, a fencing token. A resource that
refuses lower numbers is safe; one that does not is no better off.

session: the server ends the hold with the client's session or connection. Two hold it when a
holder goes on working after its session was lost.

transaction: the lock is a part of the transaction that changes the data, which fails if the lock
was lost. Safe for what is written in that transaction.

lockmark list shows the class of each lock, lockmark faults what breaks it.)"},
    topic{"exit-status", "Exit status, for scripts and CI",
          R"(
run:       0 held, or not tested; 1 the lock failed, or what --fail limits
table:     that of its gravest row, in the order 1, 2, 3, 0
capacity:  0 a rate was found; 1 a lock failed
gate:      0 PASS; 1 REGRESSION; 3 INCONCLUSIVE
faults:    0 no violation; 1 a violation, also one that was to be expected
claims:    0 the experiments were made, whatever came out
doctor:    0 a run can be made; 1 something stops it
try:       0 it was shown

For all of them, 2 is wrong usage, or no server; 3 is interrupted, inconclusive or INVALID: the
run says nothing, so measure again, or on a quieter machine.)"},
};

}  // namespace

std::span<const topic> topics() {
  return all_topics;
}

const topic* find_topic(std::string name) {
  for (char& c : name) {
    const bool is_gap = c == ' ' || c == '_';
    c = is_gap ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const auto* const found = std::ranges::find(all_topics, name, &topic::name);
  return found == all_topics.end() ? nullptr : found;
}

std::vector<std::string> paragraphs_of(const topic& t) {
  std::vector<std::string> all;
  bool is_open = false;
  std::string_view rest = t.text;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool is_laid_out = line.starts_with(' ') || line.find(":  ") != line.npos;
    if (!line.empty() && is_open && !is_laid_out) {
      all.back() += ' ' + line;
    } else if (!line.empty() || !all.empty()) {
      all.push_back(line);
    }
    is_open = !line.empty() && !is_laid_out;
  }
  return all;
}

std::string topic_text(const topic& t, std::size_t width) {
  std::string text = fmt::format("{}\n\n", t.title);
  for (const std::string& paragraph : paragraphs_of(t)) {
    if (paragraph.empty() || paragraph.size() <= width) {
      text += fmt::format("{}\n", paragraph);
      continue;
    }
    for (const std::string& line : report::wrapped(paragraph, width)) {
      text += fmt::format("{}\n", line);
    }
  }
  return text;
}

}  // namespace lockmark::cli
