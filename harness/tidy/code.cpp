// Reads C++ by its braces: finds comments and literals, and the extent of functions.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/tidy/rules.hpp"
#include "harness/tidy/text.hpp"

namespace lockmark::tidy {
namespace {

// Goes over a text once and blanks out everything but code.
class blanker {
 public:
  explicit blanker(std::string_view text) : text_{text}, code_{text} {}

  std::string run() {
    while (at_ < text_.size()) {
      if (here("//")) {
        blank_until("\n", 0);
      } else if (here("/*")) {
        blank_until("*/", 2);
      } else if (here("R\"") && (at_ == 0 || !is_word(text_[at_ - 1]))) {
        const auto open = std::min(text_.find('(', at_), text_.size());
        const auto end = fmt::format("){}\"", text_.substr(at_ + 2, open - at_ - 2));
        blank_until(end, end.size());
      } else if (text_[at_] == '"' || starts_character()) {
        blank_literal(text_[at_]);
      } else {
        ++at_;
      }
    }
    return std::move(code_);
  }

 private:
  bool here(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  // An apostrophe after a digit separates digits, as in 1'000.
  bool starts_character() const {
    return text_[at_] == '\'' && (at_ == 0 || !is_word(text_[at_ - 1]));
  }

  void blank(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (code_[at_] != '\n') code_[at_] = ' ';
    }
  }

  void blank_until(std::string_view end, std::size_t and_more) {
    const auto found = text_.find(end, at_ + 2);
    blank(found == std::string_view::npos ? text_.size() : found + and_more);
  }

  // Keeps the quotes, so that a literal still shows.
  void blank_literal(char quote) {
    auto end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2U : 1U;
    }
    ++at_;
    blank(std::min(end, text_.size()));
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  std::string code_;
  std::size_t at_ = 0;
};

// Blanks directives: a macro's braces need not balance.
void blank_directives(std::string& code) {
  bool continued = false;
  std::size_t at = 0;
  while (at < code.size()) {
    const auto end = std::min(code.find('\n', at), code.size());
    const auto first = code.find_first_not_of(' ', at);
    const bool directive = continued || (first < end && code[first] == '#');
    continued = directive && end > at && code[end - 1] == '\\';
    if (directive)
      std::fill(code.begin() + std::ptrdiff_t(at), code.begin() + std::ptrdiff_t(end), ' ');
    at = end + 1;
  }
}

enum class brace { scope, function, other };

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

// Of `template <class T> struct x`, returns `struct x`; of `public: x`, returns `x`.
std::string_view without_prefixes(std::string_view head) {
  for (const std::string_view access : {"public:", "private:", "protected:"}) {
    if (head.starts_with(access)) head = trimmed(head.substr(access.size()));
  }
  if (!head.starts_with("template")) return head;
  int depth = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '<') ++depth;
    if (head[i] == '>' && --depth == 0) return trimmed(head.substr(i + 1));
  }
  return head;
}

bool opens_scope(std::string_view head) {
  constexpr std::array<std::string_view, 7> words = {
      "namespace", "class", "struct", "union", "enum", "extern", "inline namespace"};
  return std::ranges::any_of(words, [&](auto word) {
    return head.starts_with(word) && (head.size() == word.size() || !is_word(head[word.size()]));
  });
}

// What a brace opens, judged by the text before it. clang-format puts a blank before a body, and
// none between a name and the braces of its value.
brace kind_of(std::string_view before, std::string_view head) {
  if (before.empty()) return brace::other;
  const char last = before.back();
  if (is_word(last) || last == '>' || last == '(' || last == '{') return brace::other;
  const std::string_view solid = trimmed(head);
  if (solid.empty()) return brace::other;
  if (solid.back() == '=' || solid.back() == ',' || solid.ends_with("return")) return brace::other;
  const std::string_view bare = without_prefixes(solid);
  if (opens_scope(bare)) return brace::scope;
  return bare.find('(') != std::string_view::npos ? brace::function : brace::other;
}

// The word before the first parenthesis.
std::string name_of(std::string_view head) {
  const std::string_view bare = without_prefixes(trimmed(head));
  auto end = bare.find('(');
  while (end > 0 && end != std::string_view::npos && bare[end - 1] == ' ') --end;
  auto from = std::min(end, bare.size());
  while (from > 0 && (is_word(bare[from - 1]) || bare[from - 1] == ':' || bare[from - 1] == '~')) {
    --from;
  }
  return std::string{bare.substr(from, end - from)};
}

struct open_brace {
  brace kind;
  std::size_t head;  // start of the statement that the brace belongs to
};

int line_at(std::string_view text, std::size_t at) {
  return 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n'));
}

}  // namespace

std::string code_only(std::string_view text) {
  return blanker{text}.run();
}

std::vector<function_extent> functions(std::string_view text) {
  std::string code{text};
  blank_directives(code);
  const std::string_view view = code;
  std::vector<function_extent> found;
  std::vector<open_brace> open;
  std::size_t head = 0;
  int inside = 0;  // open functions
  for (std::size_t at = 0; at < view.size(); ++at) {
    if (view[at] == ';' && inside == 0) head = at + 1;
    if (view[at] == '{') {
      const std::string_view before = view.substr(0, at);
      const brace kind = inside > 0 ? brace::other : kind_of(before, before.substr(head));
      open.push_back({kind, head});
      if (kind == brace::function) ++inside;
      if (inside == 0) head = at + 1;
    }
    if (view[at] != '}' || open.empty()) continue;
    const open_brace closed = open.back();
    open.pop_back();
    if (closed.kind == brace::function) {
      --inside;
      const auto first = view.find_first_not_of(" \n", closed.head);
      const int line = line_at(view, first);
      found.push_back({name_of(view.substr(closed.head, at - closed.head)), line,
                       line_at(view, at) - line + 1});
    }
    // After a value in braces the statement goes on: `x::x() : a_{1} {`.
    if (inside == 0) head = closed.kind == brace::other ? closed.head : at + 1;
  }
  return found;
}

}  // namespace lockmark::tidy
