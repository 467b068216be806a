#include <nlohmann/json.hpp>

#include "harness/report/text.hpp"
#include "harness/templates/fill.hpp"

namespace lockmark::report {

std::string xml_text(const std::string& untrusted) {
  using nlohmann::json;
  constexpr auto replace = json::error_handler_t::replace;
  const std::string utf8 = json::parse(json(untrusted).dump(-1, ' ', false, replace));
  std::string safe;
  for (const char c : templates::in_markup(utf8)) {
    const bool allowed = static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n';
    safe += c == '\r' ? "&#13;" : allowed ? std::string(1, c) : "\xef\xbf\xbd";
  }
  for (const char* none : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {  // U+FFFE and U+FFFF
    for (std::size_t at = 0; (at = safe.find(none, at)) != safe.npos;) {
      safe.replace(at, 3, "\xef\xbf\xbd");
    }
  }
  return safe;
}

}  // namespace lockmark::report
