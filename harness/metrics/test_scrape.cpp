#include "harness/metrics/test_scrape.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "harness/unique_fd.hpp"

namespace lockmark::metrics {
namespace {

// Reads `a="b",c="d"}` and leaves the text after it.
label_values take_labels(std::string_view& text) {
  label_values labels;
  while (!text.empty() && text.front() != '}') {
    const auto equals = std::min(text.find("=\""), text.size() - 1);
    const std::string name(text.substr(0, equals));
    text.remove_prefix(std::min(text.size(), equals + 2));
    std::string& value = labels[name];
    while (!text.empty() && text.front() != '"') {
      if (text.front() == '\\') text.remove_prefix(1);
      value += text.front();
      text.remove_prefix(1);
    }
    text.remove_prefix(std::min<std::size_t>(text.size(), 1));
    if (!text.empty() && text.front() == ',') text.remove_prefix(1);
  }
  text.remove_prefix(std::min<std::size_t>(text.size(), 1));
  return labels;
}

reading read_series(std::string_view line) {
  reading s;
  const auto name_end = std::min(line.find_first_of("{ "), line.size());
  s.name = line.substr(0, name_end);
  line.remove_prefix(name_end);
  if (line.starts_with('{')) {
    line.remove_prefix(1);
    s.labels = take_labels(line);
  }
  const std::string number(line);
  char* end = nullptr;
  s.value = std::strtod(number.c_str(), &end);
  EXPECT_TRUE(end != number.c_str() && *end == '\0') << s.name << " has the value " << number;
  return s;
}

}  // namespace

scrape::scrape(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') samples_.push_back(read_series(line));
  }
}

std::vector<reading> scrape::all(const std::string& name, const label_values& labels) const {
  std::vector<reading> found;
  for (const reading& s : samples_) {
    const bool fits = std::ranges::all_of(labels, [&](const auto& wanted) {
      const auto has = s.labels.find(wanted.first);
      return has != s.labels.end() && has->second == wanted.second;
    });
    if (s.name == name && fits) found.push_back(s);
  }
  return found;
}

double scrape::value(const std::string& name, const label_values& labels) const {
  const auto found = all(name, labels);
  EXPECT_EQ(found.size(), 1u) << "series of " << name;
  return found.size() == 1 ? found[0].value : std::nan("");
}

std::pair<double, double> scrape::around_rank(const std::string& name, const label_values& labels,
                                              double rank) const {
  std::map<double, double> counts;  // by the upper bound
  for (const reading& s : all(name + "_bucket", labels)) {
    counts[std::strtod(s.labels.at("le").c_str(), nullptr)] = s.value;
  }
  double below = 0;
  for (const auto& [bound, count] : counts) {
    if (count >= rank) return {below, bound};
    below = bound;
  }
  ADD_FAILURE() << name << " has no such rank";
  return {0, 0};
}

std::string text_of(const families& all) {
  return prometheus::TextSerializer().Serialize(all);
}

answer http_ask(int port, const std::string& path) {
  const unique_fd s{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const timeval limit{30, 0};
  setsockopt(s.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(s.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return {};
  const std::string question =
      fmt::format("GET {} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n\r\n", path, port);
  if (send(s.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0) return {};
  std::string all;
  char bytes[4096];
  for (ssize_t n = 0; (n = recv(s.get(), bytes, sizeof bytes, 0)) > 0;) {
    all.append(bytes, static_cast<std::size_t>(n));
  }
  const auto blank = all.find("\r\n\r\n");
  const auto space = all.find(' ');
  if (blank == all.npos || space == all.npos) return {};
  return {std::atoi(all.c_str() + space), all.substr(blank + 4)};
}

std::string http_get(int port, const std::string& path) {
  const answer got = http_ask(port, path);
  return got.status == 200 ? got.body : std::string();
}

}  // namespace lockmark::metrics
