#include "drivers/zookeeper/frames.hpp"

#include <fmt/format.h>

namespace lockmark::zookeeper {
namespace {

constexpr std::size_t stat_bytes = 68;

// Reserved request numbers.
constexpr std::int32_t notification = -1;
constexpr std::int32_t ping = -2;
constexpr std::int32_t login = -4;
constexpr std::int32_t watches = -8;

// Reads a message field by field from its beginning; each read returns false if the field is not
// complete.
class frame_reader {
 public:
  explicit frame_reader(std::string_view rest) : rest_(rest) {}

  bool skip(std::size_t bytes) {
    if (bytes > rest_.size()) return false;
    rest_.remove_prefix(bytes);
    return true;
  }
  bool number(std::int32_t& value) {
    if (rest_.size() < 4) return false;
    std::uint32_t bits = 0;
    for (int i = 0; i < 4; ++i) bits = bits << 8U | static_cast<unsigned char>(rest_[i]);
    value = static_cast<std::int32_t>(bits);
    return skip(4);
  }
  bool text() {
    std::int32_t length = 0;
    return number(length) && length >= 0 && skip(static_cast<std::size_t>(length));
  }
  bool data() {
    std::int32_t length = 0;
    if (!number(length)) return false;
    return length == -1 || (length >= 0 && skip(static_cast<std::size_t>(length)));
  }
  bool texts() {
    constexpr std::int32_t none = -1;
    std::int32_t count = 0;
    if (!number(count) || count < none) return false;
    for (std::int32_t i = 0; i < count; ++i) {
      if (!text()) return false;
    }
    return true;
  }
  bool read(body what) {
    switch (what) {
      case body::nothing: return true;
      case body::path: return text();
      case body::path_and_stat: return text() && skip(stat_bytes);
      case body::stat: return skip(stat_bytes);
      case body::data_and_stat: return data() && skip(stat_bytes);
      case body::names: return texts();
    }
    return false;
  }

 private:
  std::string_view rest_;
};

std::string wrong_in_notification(frame_reader rest) {
  std::int32_t type = 0;
  std::int32_t state = 0;
  if (!rest.number(type) || !rest.number(state) || !rest.text()) return "a notification cut short";
  constexpr std::int32_t created = 1;
  constexpr std::int32_t children_changed = 4;
  if (type >= created && type <= children_changed) return "";
  return fmt::format("a notification of type {}", type);
}

}  // namespace

std::optional<std::int64_t> frame_length(std::string_view begin) {
  std::int32_t length = 0;
  if (!frame_reader(begin).number(length)) return std::nullopt;
  return std::int64_t{length} + 4;
}

std::string wrong_in(std::string_view frame, std::optional<body> awaited) {
  frame_reader rest(frame);
  std::int32_t length = 0;
  std::int32_t request = 0;
  std::int32_t error = 0;
  constexpr std::size_t transaction = 8;
  if (!rest.number(length) || !rest.number(request) || !rest.skip(transaction) ||
      !rest.number(error)) {
    return "a message cut short";
  }
  if (request == notification) return wrong_in_notification(rest);
  if (request == ping || request == login || request == watches) return "";
  if (!awaited) return fmt::format("an answer to request {}, which nobody made", request);
  if (error != 0 || rest.read(*awaited)) return "";
  return fmt::format("an answer to request {} that is cut short", request);
}

}  // namespace lockmark::zookeeper
