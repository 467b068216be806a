// The forms of targets for PostgreSQL.
#pragma once

#include <array>

#include "harness/config/scheme.hpp"

namespace lockmark::postgres {

constexpr config::scheme scheme_named(std::string_view name) {
  return {.name = name,
          .default_port = 5432,
          .many_hosts = true,
          .path = config::path_rule::optional_name,
          .usage = "postgres://[user:pass@]h1,h2[:port][/db]",
          .topology = "postgres",
          .topology_of_several = "postgres-replicated"};
}

// Both spellings are those of libpq.
inline constexpr std::array schemes{scheme_named("postgres"), scheme_named("postgresql")};

}  // namespace lockmark::postgres
