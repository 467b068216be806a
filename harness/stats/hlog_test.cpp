#include "harness/stats/hlog.hpp"

#include <gtest/gtest.h>

#include <locale>
#include <sstream>

namespace lockmark::stats {
namespace {

histogram of_value(std::int64_t value_ns, std::int64_t count) {
  histogram h;
  h.record(value_ns, count);
  return h;
}

// A locale with German numbers that needs no installation.
struct german_numbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

constexpr std::int64_t start_wall_ns = 1'769'850'307'250'000'000;

// Header and lines follow the format; the second field is the interval's length, not its end.
TEST(hlog_writer, writes_the_documented_lines) {
  std::ostringstream out;
  const std::vector<std::string> comments = {"lock: memory/mutex"};
  hlog_writer writer(out, start_wall_ns, comments);
  writer.write("", 1'000'000'000, 1'000'500'000, of_value(2'500'000, 3));
  writer.write("service", 1'000'000'000, 1'000'500'000, of_value(1'000, 1));
  std::istringstream in(out.str());
  std::string line;
  std::vector<std::string> lines;
  while (std::getline(in, line)) lines.push_back(line);
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "#lock: memory/mutex");
  EXPECT_EQ(lines[1], "#[Histogram log format version 1.3]");
  EXPECT_EQ(lines[2], "#[StartTime: 1769850307.250 (seconds since epoch)]");
  EXPECT_EQ(lines[3].substr(0, 17), "\"StartTimestamp\",");
  EXPECT_EQ(lines[4].substr(0, 26), "1.000,1.000,2.500,HISTFAAA");
  EXPECT_EQ(lines[5].substr(0, 38), "Tag=service,1.000,1.000,0.001,HISTFAAA");
}

// R8: a long comment is folded into lines that the C reader accepts.
TEST(hlog_writer, folds_long_comments) {
  std::ostringstream out;
  const std::vector<std::string> comments = {std::string(500, 'x') + "\nsecond line\n"};
  hlog_writer(out, start_wall_ns, comments);
  std::istringstream in(out.str());
  std::string line, joined;
  while (std::getline(in, line) && line.starts_with('#')) {
    EXPECT_LT(line.size(), 127u);
    joined += line.substr(1);
  }
  EXPECT_TRUE(joined.starts_with(std::string(500, 'x') + "second line[Histogram log"));
}

// R8: neither the program's locale nor the stream's affects the file, written or read.
TEST(hlog, is_the_same_in_any_locale) {
  const auto write_to = [](std::ostringstream& out) {
    hlog_writer(out, start_wall_ns).write("", 1'234'567'000'000, 1'500'000'000, of_value(7, 1));
  };
  std::ostringstream plain;
  write_to(plain);
  const std::locale german(std::locale::classic(), new german_numbers);
  const std::locale before = std::locale::global(german);
  std::ostringstream localised;
  localised.imbue(german);
  write_to(localised);
  std::istringstream in(localised.str());
  in.imbue(german);
  hlog_reader reader(in);
  const auto interval = reader.next();
  std::locale::global(before);
  EXPECT_EQ(plain.str(), localised.str());
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->start_ns, 1'234'567'000'000);
  EXPECT_EQ(interval->length_ns, 1'500'000'000);
}

// A tag that would break the line is refused.
TEST(hlog_writer, refuses_a_tag_that_breaks_the_line) {
  std::ostringstream out;
  hlog_writer writer(out, 0);
  EXPECT_THROW(writer.write("a,b", 0, 1, histogram()), std::invalid_argument);
  EXPECT_THROW(writer.write("a b", 0, 1, histogram()), std::invalid_argument);
  EXPECT_THROW(writer.write("a\n", 0, 1, histogram()), std::invalid_argument);
}

// Written lines are read back, including empty intervals.
TEST(hlog_reader, reads_what_was_written) {
  std::stringstream file;
  const std::vector<std::string> comments = {"one", "two"};
  hlog_writer writer(file, start_wall_ns, comments);
  writer.write("", 0, 1'000'000'000, of_value(42, 5));
  writer.write("service", 0, 1'000'000'000, histogram(2));
  hlog_reader reader(file);
  const auto first = reader.next(), second = reader.next();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->tag, "");
  EXPECT_EQ(first->values, of_value(42, 5));
  EXPECT_EQ(second->tag, "service");
  EXPECT_EQ(second->values, histogram(2));
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.truncated());
  EXPECT_EQ(reader.start_wall_ns(), start_wall_ns);
  EXPECT_EQ(reader.comments().front(), "one");
}

// Only the requested series are decoded; a damaged line of another one does no harm.
TEST(hlog_reader, skips_other_series) {
  std::ostringstream out;
  hlog_writer writer(out, start_wall_ns);
  writer.write("", 0, 1'000'000'000, of_value(1'000, 1));
  writer.write("service", 0, 1'000'000'000, of_value(2'000, 2));
  writer.write("hold", 0, 1'000'000'000, of_value(3'000, 3));
  std::istringstream in(out.str() + "Tag=hold,1.000,1.000,0.001,damaged\n");
  hlog_reader reader(in, {"", "service", "release"});
  EXPECT_EQ(reader.next()->tag, "");
  EXPECT_EQ(reader.next()->tag, "service");
  EXPECT_FALSE(reader.next());
  std::istringstream again(out.str() + "Tag=hold,1.000,1.000,0.001,damaged\n");
  hlog_reader all(again);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(all.next());
  EXPECT_THROW(all.next(), hlog_error);
}

// R25: the file of a killed run is readable up to the cut, wherever that is.
TEST(hlog_reader, reads_up_to_a_cut) {
  std::ostringstream out;
  hlog_writer writer(out, start_wall_ns);
  writer.write("", 0, 1'000'000'000, of_value(42, 5));
  const std::size_t whole = out.str().size();
  writer.write("", 1'000'000'000, 1'000'000'000, of_value(43, 6));
  for (std::size_t cut = whole; cut < out.str().size(); ++cut) {
    std::istringstream in(out.str().substr(0, cut));
    hlog_reader reader(in);
    EXPECT_TRUE(reader.next());
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.truncated(), cut != whole);
  }
}

// Damage before the end is an error that names the line.
TEST(hlog_reader, names_the_damaged_line) {
  const auto message = [](const std::string& text) -> std::string {
    std::istringstream in(text);
    hlog_reader reader(in);
    try {
      reader.next();
    } catch (const hlog_error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_TRUE(message("\n1.0,x,2.0,HIST\n").starts_with("line 2: expected"));
  EXPECT_TRUE(message("1.0,1.0,2.0,HISTFAAA\n").starts_with("line 1: "));
  EXPECT_TRUE(message("1.0,1.0\n").starts_with("line 1: expected"));
  EXPECT_TRUE(message("#[StartTime: noon]\n").starts_with("line 1: the start time"));
}

}  // namespace
}  // namespace lockmark::stats
