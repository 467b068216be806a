// Sentences about a run, stored as an id and values, and put into words where they are shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockmark {

enum class language : std::uint8_t { english, chinese };

struct message {
  // A sentence that exists in one language only, such as an error's.
  message(std::string sentence) : values{std::move(sentence)} {}
  message(const char* sentence) : values{sentence} {}
  // `its_id` is of the table in messages.cpp; the values fill the gaps of its sentence, in order.
  message(std::string its_id, std::vector<std::string> its_values)
      : id(std::move(its_id)), values(std::move(its_values)) {}

  std::string id{};  // empty: the only value is the whole sentence
  std::vector<std::string> values;

  bool operator==(const message&) const = default;
};

// A clause without a full stop. Of an unknown id, which a newer lockmark has written: the values.
std::string text_of(const message& m, language in = language::english);
std::vector<std::string> texts_of(const std::vector<message>& all, language in = language::english);

}  // namespace lockmark
