#include "drivers/mysql/limits.hpp"

#include <errmsg.h>
#include <mysql.h>

#include <cstdlib>

namespace lockmark::mysql {
namespace {

// Login methods that do not reveal the password to eavesdroppers. A server may ask for any of them.
constexpr const char* discreet_logins =
    "mysql_native_password,client_ed25519,parsec,caching_sha2_password,sha256_password,"
    "auth_gssapi_client";

// The library's record of a session's state would take many times the memory of its bytes.
void forget_session_state(void*, enum enum_mariadb_status_info, ...) {}

const st_mariadb_methods* library_methods = nullptr;

// Only the presence of a definition matters here. This one stands for all: six empty names, an
// empty type (MariaDB's, optional), twelve bytes about the values, an empty default, and its end.
char empty_texts[32] = {};
char* empty_definition[] = {empty_texts,      empty_texts + 1, empty_texts + 2, empty_texts + 3,
                            empty_texts + 4,  empty_texts + 5, empty_texts + 6, empty_texts + 7,
                            empty_texts + 20, empty_texts + 21};
constexpr unsigned longest_definition = 9;
constexpr unsigned shortest_definition = 8;

MYSQL_DATA* refuse_definitions(MYSQL* library, unsigned error, const char* why) {
  library->methods->set_error(library, error, "HY000", "%s", why);
  return nullptr;
}

// The library frees the rows together with the memory root that they are in.
MYSQL_DATA* empty_definitions(MYSQL* library, unsigned count, unsigned cells) {
  auto* const all = static_cast<MYSQL_DATA*>(std::calloc(1, sizeof(MYSQL_DATA)));
  auto* const block = static_cast<MA_USED_MEM*>(
      std::calloc(1, sizeof(MA_USED_MEM) + (count + 1) * sizeof(MYSQL_ROWS)));
  if (all == nullptr || block == nullptr) {
    std::free(all);
    std::free(block);
    return refuse_definitions(library, CR_OUT_OF_MEMORY, "out of memory");
  }
  auto* const rows = reinterpret_cast<MYSQL_ROWS*>(block + 1);
  for (unsigned i = 0; i < count; ++i) {
    rows[i].data = empty_definition + (longest_definition - cells);
    rows[i].length = sizeof empty_texts;
    rows[i].next = i + 1 < count ? &rows[i + 1] : nullptr;
  }
  all->alloc.used = block;
  all->data = count > 0 ? rows : nullptr;
  all->rows = count;
  all->fields = cells;
  return all;
}

// Whether the answer that the definitions follow announces too many: the library would ask for the
// memory of all of them at once. A count above 250 takes several bytes, the first of them above
// 250.
bool announces_too_many(const MYSQL& library) {
  return *library.net.read_pos > columns_limit;
}

// Replaces the library's function that reads the definitions of a result's columns. Runs on the
// stack of the library's coroutine, in C: it must not throw.
MYSQL_DATA* read_definitions(MYSQL* library, MYSQL_FIELD*, unsigned cells) {
  if (cells < shortest_definition || cells > longest_definition) {
    return refuse_definitions(library, CR_MALFORMED_PACKET, "a definition of another form");
  }
  if (announces_too_many(*library)) {
    return refuse_definitions(library, CR_MALFORMED_PACKET, "too many columns");
  }
  for (unsigned count = 0;; ++count) {
    char* first[2];
    unsigned long length[1];
    const int end = library_methods->db_read_one_row(library, 1, first, length);
    if (end == 1) return empty_definitions(library, count, cells);
    if (end != 0) return nullptr;
    if (count == columns_limit) {
      return refuse_definitions(library, CR_MALFORMED_PACKET, "too many columns");
    }
  }
}

const st_mariadb_methods* with_limits(const st_mariadb_methods* all) {
  static const st_mariadb_methods ours = [all] {
    library_methods = all;
    st_mariadb_methods m = *all;
    m.db_read_rows = read_definitions;
    return m;
  }();
  return &ours;
}

}  // namespace

void set_limits(st_mysql& library, bool private_line) {
  const std::size_t packet = packet_limit;
  mysql_options(&library, MYSQL_OPT_MAX_ALLOWED_PACKET, &packet);
  const unsigned no = 0;
  mysql_options(&library, MYSQL_OPT_LOCAL_INFILE, &no);
  if (!private_line) mysql_options(&library, MARIADB_OPT_RESTRICTED_AUTH, discreet_logins);
  mysql_optionsv(&library, MARIADB_OPT_STATUS_CALLBACK,
                 reinterpret_cast<void*>(&forget_session_state), nullptr);
  library.methods = with_limits(library.methods);
}

}  // namespace lockmark::mysql
