#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "harness/report/markdown.hpp"
#include "harness/report/table.hpp"

namespace lockmark::report {
namespace {

bool not_held(const row& r) {
  return r["violations"].value.value_or(0) > 0;
}

// "1 run", "3 runs".
std::string runs(std::size_t n) {
  return fmt::format("{} run{}", n, n == 1 ? "" : "s");
}

std::string title(const std::vector<row>& rows) {
  const auto failed = static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), not_held));
  if (failed > 0) return fmt::format("{} of {} NOT HELD", failed, runs(rows.size()));
  const bool all_known = std::all_of(
      rows.begin(), rows.end(), [](const row& r) { return r["violations"].value.has_value(); });
  return fmt::format("{}, {}", runs(rows.size()), all_known ? "all held" : "none failed");
}

// "- 2 INVALID: do not use their figures", for each count above 0.
std::string counts(const std::vector<row>& rows) {
  std::string text;
  const auto tell = [&](const char* what, auto matches) {
    const auto n = std::count_if(rows.begin(), rows.end(), matches);
    if (n > 0) text += fmt::format("- **{}** {}\n", n, what);
  };
  tell("not held: two clients had one key at once, or an update was lost", not_held);
  tell("INVALID: do not use the figures", [](const row& r) { return r.complete && !r.valid; });
  tell("incomplete: what had been measured by then", [](const row& r) { return !r.complete; });
  tell("valid as bounds only: the harness or the machine was the limit",
       [](const row& r) { return r.bound; });
  tell("valid", [](const row& r) { return r.valid && !r.bound; });
  return text;
}

// The first `shown` rows as a table, and the number of rows left out.
std::string table_of(const std::vector<row>& rows, std::size_t shown) {
  const std::vector<row> part(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown));
  std::string text = shown > 0 ? table_markdown(part) : "";
  if (shown < rows.size()) {
    text += fmt::format(
        "\n{} of {} rows are left out here for their length; `lockmark report --format csv` has "
        "them all.\n",
        rows.size() - shown, rows.size());
  }
  return text;
}

struct page {
  const std::vector<row>& all;
  std::vector<row> to_look_at;  // the most serious first

  std::string text(std::size_t looked_at, std::size_t shown) const {
    std::string t = fmt::format("### lockmark: {}\n\n{}", title(all), counts(all));
    if (!to_look_at.empty()) {
      t += fmt::format("\n### What needs a look\n\n{}", table_of(to_look_at, looked_at));
    }
    t += fmt::format("\n<details><summary>The table: {}</summary>\n\n{}\n</details>\n",
                     runs(all.size()), table_of(all, shown));
    return t;
  }
};

// The largest number up to `most` for which the text is short enough, or 0.
template <class Text>
std::size_t most_that_fit(std::size_t most, Text text) {
  std::size_t fits = 0;
  while (fits < most) {
    const std::size_t middle = fits + (most - fits + 1) / 2;
    if (text(middle).size() <= most_markdown_bytes) {
      fits = middle;
    } else {
      most = middle - 1;
    }
  }
  return fits;
}

}  // namespace

std::string runs_markdown(const std::vector<row>& rows) {
  page p{rows, {}};
  const auto odd = [](const row& r) { return not_held(r) || !r.valid; };
  std::ranges::copy_if(rows, std::back_inserter(p.to_look_at), odd);
  std::ranges::stable_partition(p.to_look_at, not_held);
  const std::size_t looked_at =
      most_that_fit(p.to_look_at.size(), [&](std::size_t n) { return p.text(n, 0); });
  const std::size_t shown =
      most_that_fit(rows.size(), [&](std::size_t n) { return p.text(looked_at, n); });
  return markdown_cut(p.text(looked_at, shown));
}

}  // namespace lockmark::report
