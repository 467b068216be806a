// What this lockmark is made of, for `lockmark --version --verbose` and for whoever has to know it
// of what they install.
#pragma once

#include <span>
#include <string>

namespace lockmark::cli {

struct library {
  const char* name;
  const char* version;  // of Debian's package that it was built with; "unknown" elsewhere
  const char* linked;   // "compiled in" or "shared"
  const char* licence;  // its SPDX identifier
};

// From the table in deploy/package/libraries.cmake.
std::span<const library> libraries();

// Version, revision, compiler, and the libraries with their licences; without the last line break.
std::string about();

}  // namespace lockmark::cli
