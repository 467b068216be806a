#include "harness/run/participants/interval_codec.hpp"

#include <stdexcept>

namespace lockmark::run {
namespace {

using histogram = stats::histogram;

// Numbers in groups of seven bits, lowest first; the eighth bit says that more follow.
class byte_writer {
 public:
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(value | 0x80);
    byte(value);
  }
  void count(std::int64_t value) { number(static_cast<std::uint64_t>(value)); }
  void pass(std::uint64_t value) { number(value); }
  void pass(std::int64_t value) { count(value); }
  std::string take() { return std::move(bytes_); }

 private:
  void byte(std::uint64_t value) {
    bytes_.push_back(static_cast<char>(static_cast<unsigned char>(value)));
  }
  std::string bytes_;
};

class byte_reader {
 public:
  explicit byte_reader(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto next = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
    throw std::runtime_error("a participant's interval ends in the middle of a number");
  }
  std::int64_t count() { return static_cast<std::int64_t>(number()); }
  void pass(std::uint64_t& value) { value = number(); }
  void pass(std::int64_t& value) { value = count(); }

 private:
  std::string_view rest_;
};

void pass(byte_writer& out, const histogram& h) {
  const auto counts = h.counts();
  std::uint64_t used = 0;
  for (std::size_t i = h.unused_counts(); i < h.used_counts(); ++i) used += counts[i] != 0 ? 1 : 0;
  out.number(used);
  if (used == 0) return;
  std::size_t before = 0;
  for (std::size_t i = h.unused_counts(); i < h.used_counts(); ++i) {
    if (counts[i] == 0) continue;
    out.number(i - before);
    out.count(counts[i]);
    before = i;
  }
  const histogram::exact e = h.exactly();
  out.count(e.min_ns);
  out.count(e.max_ns);
  out.number(static_cast<std::uint64_t>(e.sum_ns >> 64));
  out.number(static_cast<std::uint64_t>(e.sum_ns));
  out.count(e.clamped_low);
  out.count(e.clamped_high);
}

void pass(byte_reader& in, histogram& h) {
  const std::uint64_t used = in.number();
  if (used == 0) return;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < used; ++i) {
    at += in.number();
    h.add_at_index(at, in.count());
  }
  histogram::exact e;
  e.min_ns = in.count();
  e.max_ns = in.count();
  e.sum_ns = static_cast<__int128>(in.number()) << 64;
  e.sum_ns |= in.number();
  e.clamped_low = in.count();
  e.clamped_high = in.count();
  h.set_exact(e);
}

// At most a few: each took a fifth of an interval or longer.
void pass(byte_writer& out, const std::vector<freeze>& freezes) {
  out.number(freezes.size());
  for (const freeze& f : freezes) {
    out.count(f.from_ns);
    out.count(f.for_ns);
    out.number(f.worker);
  }
}

void pass(byte_reader& in, std::vector<freeze>& freezes) {
  for (std::uint64_t n = in.number(); n > 0; --n) {
    freeze f;
    f.from_ns = in.count();
    f.for_ns = in.count();
    f.worker = in.number();
    freezes.push_back(f);
  }
}

// The same numbers in the same order, for both directions.
template <class Bytes, class Interval>
void pass_all(Bytes& bytes, Interval& i) {
  bytes.pass(i.start_ns);
  bytes.pass(i.end_ns);
  for (auto& h : i.durations) pass(bytes, h);
  for (std::size_t c = 0; c < counter_names.size(); ++c) {
    bytes.pass(i.counts[static_cast<counter>(c)]);
  }
  auto& t = i.sent;
  for (auto* n : {&t.commands, &t.round_trips, &t.bytes_out, &t.bytes_in, &t.wakeups, &t.reconnects,
                  &t.pipe_ns, &t.late_renewals}) {
    bytes.pass(*n);
  }
  pass(bytes, i.freezes);
}
static_assert(sizeof(traffic) == 8 * sizeof(std::uint64_t), "a number of traffic is forgotten");

}  // namespace

std::string encode(const interval& whole) {
  byte_writer out;
  pass_all(out, whole);
  return out.take();
}

void decode(std::string_view bytes, interval& into) {
  byte_reader in(bytes);
  pass_all(in, into);
  if (!in.empty()) throw std::runtime_error("a participant's interval is longer than it should be");
}

}  // namespace lockmark::run
