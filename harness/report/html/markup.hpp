// Pieces of HTML. Values from a run (names of locks, targets, sentences) are text; they enter the
// markup only here, escaped.
//
// Knows tables and sections, and nothing of runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::report::html {

// Safe as an element's content and in an attribute in double quotes.
std::string escaped(std::string_view text);

// How the cells of a column are given and shown: `markup` and `figures` are already markup, the
// others are text to be escaped; `number` and `figures` are right-aligned.
enum class column : std::uint8_t { text, number, markup, figures };

struct heading {
  std::string text;
  column kind = column::text;
};

class table {
 public:
  explicit table(std::vector<heading> headings) : headings_(std::move(headings)) {}

  // As many cells as headings; the first one names the row.
  void add(std::vector<std::string> cells);
  std::size_t rows() const { return rows_.size(); }
  // In a box that scrolls sideways if the page is too narrow.
  std::string html() const;

 private:
  std::vector<heading> headings_;
  std::vector<std::vector<std::string>> rows_;
};

// <section> with a heading; nothing if the body is empty. `title` is text, `body` is markup.
std::string section(std::string_view title, const std::string& body);
// <h3> and its content; nothing if the body is empty.
std::string subsection(std::string_view title, const std::string& body);
// <details>: content shown on demand.
std::string folded(std::string_view summary, const std::string& body);
// <p> of text.
std::string paragraph(std::string_view text);
// <ul> of texts; nothing if there are none.
std::string list(const std::vector<std::string>& texts);

}  // namespace lockmark::report::html
