// Texts of others inside XML 1.0.
#pragma once

#include <string>
#include <string_view>

namespace lockmark::report {

// For element content and for attributes in double quotes: markup is escaped, and what XML cannot
// hold at all (control characters, bytes that are no UTF-8) becomes U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace lockmark::report
