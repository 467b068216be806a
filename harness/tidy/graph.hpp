// The graph of includes, folder by folder: at each level of the tree, the parts of a folder
// (folders and files) and which of them use which. Leaves out tests, which may use anything.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark::tidy {

// For each part, the parts that it includes.
using uses = std::map<std::string, std::set<std::string>>;

class include_graph {
 public:
  // Paths are relative to the root of the project. Ignores includes from outside the project.
  void add(std::string_view path, std::string_view text);

  // The folders of the project, by path; "" is its root.
  const std::map<std::string, uses>& folders() const { return folders_; }

 private:
  void add_use(std::string_view path, std::string_view included);

  std::map<std::string, uses> folders_;
};

// Sets of parts that use each other, each set once; empty: none.
std::vector<std::set<std::string>> cycles(const uses& of);

// Tests, benchmarks, fuzzers, and files that only these use.
bool is_for_tests(std::string_view path);

}  // namespace lockmark::tidy
