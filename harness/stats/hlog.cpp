#include "harness/stats/hlog.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <istream>
#include <ostream>

#include "harness/stats/hdr_encoding.hpp"

namespace lockmark::stats {
namespace {

// HdrHistogram_c reads header lines into 128 bytes and gives up on a longer one.
constexpr std::size_t longest_comment = 120;
constexpr std::string_view legend =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";
constexpr std::string_view start_time_prefix = "[StartTime: ";

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

void append_comment(std::string& header, std::string_view text) {
  while (!text.empty()) {
    const std::size_t line_end = std::min(text.find('\n'), text.size());
    const std::size_t length = std::min(line_end, longest_comment);
    header += fmt::format("#{}\n", text.substr(0, length));
    text.remove_prefix(length == line_end ? std::min(line_end + 1, text.size()) : length);
  }
}

bool is_valid_tag(std::string_view tag) {
  for (char c : tag) {
    if (c == ',' || static_cast<unsigned char>(c) <= ' ' || c == 0x7f) return false;
  }
  return true;
}

// Takes the text up to the next comma off the front of `line`.
std::string_view take_field(std::string_view& line) {
  const std::size_t end = std::min(line.find(','), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(std::abs(value) < 9e9)) return std::nullopt;  // seconds that fit in nanoseconds
  return value;
}

// Times in the file have milliseconds; finer digits would be rounding errors of the double.
std::int64_t to_nanoseconds(double s) {
  return std::llround(s * 1e3) * 1'000'000;
}

}  // namespace

hlog_writer::hlog_writer(std::ostream& out, std::int64_t start_wall_ns,
                         std::span<const std::string> comments)
    : out_(out) {
  std::string header;
  for (const std::string& comment : comments) append_comment(header, comment);
  header += "#[Histogram log format version 1.3]\n";
  header +=
      fmt::format("#{}{:.3f} (seconds since epoch)]\n", start_time_prefix, seconds(start_wall_ns));
  header += fmt::format("{}\n", legend);
  out_.write(header.data(), static_cast<std::streamsize>(header.size())).flush();
}

void hlog_writer::write(std::string_view tag, std::int64_t start_ns, std::int64_t length_ns,
                        const histogram& interval) {
  if (!is_valid_tag(tag)) {
    throw std::invalid_argument(
        fmt::format("'{}' cannot tag a series: no commas, spaces or control characters", tag));
  }
  const std::string line =
      fmt::format("{}{}{}{:.3f},{:.3f},{:.3f},{}\n", tag.empty() ? "" : "Tag=", tag,
                  tag.empty() ? "" : ",", seconds(start_ns), seconds(length_ns),
                  static_cast<double>(interval.max_ns()) / 1e6, encode_base64(interval));
  out_.write(line.data(), static_cast<std::streamsize>(line.size())).flush();
}

std::optional<hlog_interval> hlog_reader::next() {
  std::string line;
  while (std::getline(in_, line)) {
    ++line_number_;
    if (in_.eof()) {
      truncated_ = true;
      return std::nullopt;
    }
    if (line.starts_with('#')) {
      read_comment(std::string_view(line).substr(1));
    } else if (!line.empty() && !line.starts_with('"') && is_wanted(line)) {
      return read_interval(line);
    }
  }
  return std::nullopt;
}

void hlog_reader::read_comment(std::string_view line) {
  if (!line.starts_with(start_time_prefix)) {
    comments_.emplace_back(line);
    return;
  }
  line.remove_prefix(start_time_prefix.size());
  const auto start_s = parse_number(line.substr(0, line.find(' ')));
  if (!start_s) {
    throw hlog_error(fmt::format("line {}: the start time is not a number", line_number_));
  }
  start_wall_ns_ = to_nanoseconds(*start_s);
}

bool hlog_reader::is_wanted(std::string_view line) const {
  if (only_.empty()) return true;
  std::string_view tag;
  if (line.starts_with("Tag=")) tag = take_field(line).substr(4);
  return std::find(only_.begin(), only_.end(), tag) != only_.end();
}

hlog_interval hlog_reader::read_interval(std::string_view line) const {
  hlog_interval result;
  if (line.starts_with("Tag=")) result.tag = take_field(line).substr(4);
  const auto start_s = parse_number(take_field(line));
  const auto length_s = parse_number(take_field(line));
  const auto max_ms = parse_number(take_field(line));
  if (!start_s || !length_s || !max_ms) {
    throw hlog_error(
        fmt::format("line {}: expected [Tag=name,]start,length,max,histogram with "
                    "numbers in seconds and milliseconds",
                    line_number_));
  }
  result.start_ns = to_nanoseconds(*start_s);
  result.length_ns = to_nanoseconds(*length_s);
  try {
    result.values = decode_base64(line);
  } catch (const encoding_error& error) {
    throw hlog_error(fmt::format("line {}: {}", line_number_, error.what()));
  }
  return result;
}

}  // namespace lockmark::stats
