#include "drivers/redis/answer_shape.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "drivers/redis/link.hpp"

namespace lockmark::redis {
namespace {

using kind = reply::kind;

bool is_number(const reply& r) {
  return r.is(kind::integer);
}

bool is_status_or_nil(const reply& r) {
  return r.is(kind::status) || r.is(kind::nil);
}

bool is_text_or_nil(const reply& r) {
  return r.is(kind::text) || r.is(kind::nil);
}

// Of our scripts: a number, nil, or a list of numbers.
bool is_of_a_script(const reply& r) {
  return r.is(kind::integer) || r.is(kind::nil) ||
         (r.is(kind::array) && std::ranges::all_of(r.parts, is_number));
}

struct shape {
  std::string_view command;
  bool (*fits)(const reply&);
};

constexpr shape shapes[] = {
    {"EVALSHA", is_of_a_script}, {"EVAL", is_of_a_script}, {"SET", is_status_or_nil},
    {"SETNX", is_number},        {"DEL", is_number},       {"EXPIRE", is_number},
    {"PEXPIRE", is_number},      {"WAIT", is_number},      {"GET", is_text_or_nil},
    {"GETSET", is_text_or_nil},
};

}  // namespace

bool is_answer_to(std::string_view command, const reply& r) {
  const auto named = std::ranges::find(shapes, name_of_command(command), &shape::command);
  return named == std::end(shapes) || named->fits(r);
}

std::string describe(const reply& r) {
  switch (r.what) {
    case kind::nil: return "nil";
    case kind::status: return fmt::format("the status '{}'", excerpt(r.text));
    case kind::error: return fmt::format("the error '{}'", excerpt(r.text));
    case kind::integer: return fmt::format("the number {}", r.number);
    case kind::text: return fmt::format("the text '{}'", excerpt(r.text));
    case kind::array: return fmt::format("a list of {}", r.parts.size());
  }
  return "something else";
}

std::string excerpt(std::string_view said) {
  constexpr std::size_t most = 200;
  std::string line{said.substr(0, most)};
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return said.size() > most ? line + "..." : line;
}

}  // namespace lockmark::redis
