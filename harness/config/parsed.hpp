// A value read from text, or the sentence that says why it could not be read.
//
// The return type of every parser in this folder. Parsers throw nothing and know neither file nor
// line: the layer that does (option.hpp) puts "file:line: key: " in front of the sentence.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace lockmark::config {

// Why a text is not a value: one clause without a full stop, "expected a duration ..., not '5'".
struct problem {
  std::string sentence;
};

template <class T>
class parsed {
 public:
  parsed(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  parsed(problem why) : content_(std::in_place_index<1>, std::move(why)) {}

  explicit operator bool() const { return content_.index() == 0; }

  // The value; throws std::bad_variant_access if there is none.
  const T& operator*() const { return std::get<0>(content_); }
  const T* operator->() const { return &std::get<0>(content_); }

  // The problem; throws std::bad_variant_access if there is a value.
  const problem& error() const { return std::get<1>(content_); }

 private:
  std::variant<T, problem> content_;
};

// A user's text as errors show it: in single quotes, control characters as '?', at most 60
// characters.
std::string in_quotes(std::string_view text);

// "expected <what>, not '<text>'" with an optional reason, ", which <reason>".
problem expected(std::string_view what, std::string_view text, std::string_view reason = {});

}  // namespace lockmark::config
