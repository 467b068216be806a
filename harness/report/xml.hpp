// Untrusted text inside XML 1.0.
#pragma once

#include <string>
#include <string_view>

namespace lockmark::report {

// For element content and for attributes in double quotes: markup is escaped; control characters
// and invalid UTF-8, which XML cannot hold, become U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace lockmark::report
