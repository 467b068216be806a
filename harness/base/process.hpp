// This process and those that it starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockmark {

// Between fork and exec: an ignored signal would stay ignored, and a blocked one blocked. System
// calls only.
void restore_signals();

// "ended with exit status 3" or "was killed by signal 9", of a status as waitpid gives it.
std::string describe_status(int wait_status);

// How many file descriptors this process may have; no limit: the largest number.
std::uint64_t descriptor_limit();

// Raises that limit as far as permitted: the lower default is meant for programs that use select(),
// and was not chosen by anyone. Child processes inherit it.
void raise_descriptor_limit();

// Where a file may be that lockmark comes with, such as a library that servers preload: beside the
// program, as in a build folder; then, as packages have it, in ../lib/lockmark from there, or in
// Debian's ../lib/ARCHITECTURE/lockmark.
std::vector<std::filesystem::path> helper_places(const std::filesystem::path& program,
                                                 std::string_view name);

// The first of these places of this program where there is one.
std::optional<std::filesystem::path> find_helper(std::string_view name);

}  // namespace lockmark
