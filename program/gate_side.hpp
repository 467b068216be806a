// One side of a comparison, as given to `lockmark gate`.
//
//   --baseline 'on=redis://old:6379 lock=redis/lua hold=1ms with=build/main/lockmark'
//
// Words are separated by blanks, except within quotes or parentheses. on=TARGET is the target,
// with= the lockmark that runs it, and every other KEY=VALUE overrides the job. Anything left out
// is the same as on the other side.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "program/jobs.hpp"
#include "program/resolved_target.hpp"

namespace lockmark::cli {

struct gate_side {
  std::string name;     // "baseline"
  std::string program;  // a lockmark
  std::string target;   // as the user wrote it
  std::vector<std::string> set;
  std::string own;  // this side's own words, redacted, without its target
};

// "a 'b c' d(e, f)" -> "a", "b c", "d(e, f)".
std::vector<std::string> words_of(std::string_view text);

// `common`: settings shared by both sides. Throws usage_error that begins with "--NAME".
gate_side read_side(gate_side common, const std::string& name,
                    const std::vector<std::string>& given);

// "redis/lua on redis://127.0.0.1:6379, hold=1ms": for display, without passwords.
std::string side_text(const gate_side& side, const named_job& job, const resolved_target& where);

// The program of a side without `with=`.
inline constexpr const char* this_lockmark = "/proc/self/exe";

// The URL without its password, which is passed in an environment variable instead: a command line
// can be read by every user of the machine, an environment only by its owner. A command (exec:) is
// secret as a whole, and passed in a variable unknown to older lockmarks.
struct open_url {
  std::string url;       // empty: in the variable
  std::string variable;  // "NAME=password" for the environment; empty: none
};
open_url without_password(const std::string& url, bool to_this_lockmark);

}  // namespace lockmark::cli
