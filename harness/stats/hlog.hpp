// The .hlog file: a time series of histograms as text, one line per interval and series.
//
// Format version 1.3 of HdrHistogram, readable by org.HdrHistogram.HistogramLogProcessor:
// comment lines, a legend, then `[Tag=name,]start_s,length_s,max_ms,base64`. The headline series is
// untagged, because that tool reads only untagged lines unless told otherwise. Values are
// nanoseconds, as that tool expects by default. Numbers are written and read without any locale.
//
// Writer and reader handle one interval at a time and hold none; files are the caller's business.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/stats/histogram.hpp"

namespace lockmark::stats {

class hlog_writer {
 public:
  // Writes the header at once. `start_wall_ns` is since 1970, UTC; each comment gets lines of its
  // own, folded so that none exceeds what the C reader accepts. `out` must outlive the writer.
  hlog_writer(std::ostream& out, std::int64_t start_wall_ns,
              std::span<const std::string> comments = {});

  // One interval of one series, in order of time. `start_ns` is since the start of the file. `tag`
  // is empty for the headline series; a tag with a comma, space or control character is
  // std::invalid_argument. The line is flushed, so that a killed run keeps what it had measured.
  void write(std::string_view tag, std::int64_t start_ns, std::int64_t length_ns,
             const histogram& interval);

 private:
  std::ostream& out_;
};

struct hlog_interval {
  std::string tag;  // empty for the headline series
  std::int64_t start_ns = 0;
  std::int64_t length_ns = 0;
  histogram values{1};
};

// A line that cannot be read; what() names its number.
class hlog_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class hlog_reader {
 public:
  // `in` must outlive the reader. With tags in `only`, lines of other series are skipped undecoded:
  // decoding a histogram costs far more than finding its tag ("" for the headline series).
  explicit hlog_reader(std::istream& in, std::vector<std::string> only = {})
      : in_(in), only_(std::move(only)) {}

  // The next interval, or nothing at the end. A killed run may leave a last line without its
  // newline: it ends the file and sets truncated(). Throws hlog_error on any other damage.
  std::optional<hlog_interval> next();

  // Values from the lines read so far.
  std::int64_t start_wall_ns() const { return start_wall_ns_; }
  const std::vector<std::string>& comments() const { return comments_; }
  bool truncated() const { return truncated_; }

 private:
  void read_comment(std::string_view line);
  bool is_wanted(std::string_view line) const;
  hlog_interval read_interval(std::string_view line) const;

  std::istream& in_;
  std::vector<std::string> only_;
  std::int64_t line_number_ = 0;
  std::int64_t start_wall_ns_ = 0;
  std::vector<std::string> comments_;
  bool truncated_ = false;
};

}  // namespace lockmark::stats
