// A Lua script and the name by which Redis caches it.
#pragma once

#include <string>
#include <string_view>

#include "drivers/redis/resp.hpp"

namespace lockmark::redis {

struct script {
  explicit script(std::string_view lua);

  std::string text;
  std::string sha1;  // 40 hexadecimal digits
};

// Appends EVALSHA of the script. The first `key_count` of the arguments are keys.
template <class... Arguments>
void append_evalsha(std::string& out, const script& s, int key_count,
                    const Arguments&... arguments) {
  append_command(out, "EVALSHA", s.sha1, key_count, arguments...);
}

// The same call as EVAL with the whole text, for a server that has lost its script cache. `evalsha`
// was written by append_evalsha.
std::string as_eval(std::string_view evalsha, const script& s);

}  // namespace lockmark::redis
