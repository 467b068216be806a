// One side of a comparison, as `lockmark gate` is told of it.
//
//   --baseline 'on=redis://old:6379 lock=redis/lua hold=1ms with=build/main/lockmark'
//
// Words are separated by blanks, but not within quotes or parentheses. on=TARGET says where, with=
// a lockmark that runs it, and every other KEY=VALUE overrides the job. What is not said is as for
// the other side.
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
  std::string own;  // the words of this side alone as they may be shown, without its target
};

// "a 'b c' d(e, f)" -> "a", "b c", "d(e, f)".
std::vector<std::string> words_of(std::string_view text);

// `common` is what both sides share. Throws usage_error that begins with "--NAME".
gate_side read_side(gate_side common, const std::string& name,
                    const std::vector<std::string>& given);

// "redis/lua on redis://127.0.0.1:6379, hold=1ms": for people, without passwords.
std::string side_text(const gate_side& side, const named_job& job, const resolved_target& where);

// A side that needs no other lockmark.
inline constexpr const char* this_lockmark = "/proc/self/exe";

// The URL without its password, which is given as the content of a variable instead: a command line
// can be read by every user of the machine, an environment only by its owner. A command (exec:) is
// all secret, and goes by a variable that older lockmarks do not know.
struct open_url {
  std::string url;       // empty: it is in the variable
  std::string variable;  // "NAME=password" for the environment; empty: there is none
};
open_url without_password(const std::string& url, bool to_this_lockmark);

}  // namespace lockmark::cli
