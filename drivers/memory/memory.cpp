#include "drivers/memory/memory.hpp"

#include <charconv>

#include "drivers/memory/lock.hpp"

namespace lockmark::memory {
namespace {

// More readers than there will ever be; a writer takes that many places.
constexpr std::uint32_t all_places = 1U << 30;

// All of `text` as a number of places; 0: it is none.
std::uint32_t read_places(std::string_view text) {
  std::uint32_t n = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, n);
  return error == std::errc{} && stopped == end && n < all_places ? n : 0;
}

bool is_places(std::string_view text) {
  return read_places(text) > 0;
}

std::uint32_t places_of(const option_values& options) {
  const auto given = options.find("places");
  return read_places(given == options.end() ? "3" : given->second);
}

std::uint32_t any_number(const option_values&) {
  return 0;
}

}  // namespace

std::vector<lock_kind> kinds() {
  const features leased =
      feature::fencing_token | feature::lease | feature::renewable | feature::session_bound;
  return {
      {.name = "memory/lock",
       .summary = "a fair, reentrant lock in this process; the harness's floor",
       .has = leased | feature::server_wait | feature::fair | feature::reentrant,
       .promises = safety::lease_and_token,
       .topologies = "memory",
       .algorithm = "a mutex-protected owner and a queue per key",
       .options = {},
       .make =
           [](const driver_setup& s) {
             return lock_on(new_keys(s.run_names.keys.size(), 1), {.reentrant = true});
           }},
      {.name = "memory/try_lock",
       .summary = "a lock in this process that is tried, not waited for",
       .has = leased,
       .promises = safety::lease_and_token,
       .topologies = "memory",
       .algorithm = "a mutex-protected owner per key",
       .options = {},
       .make =
           [](const driver_setup& s) {
             return lock_on(new_keys(s.run_names.keys.size(), 1), {.waits = false});
           }},
      {.name = "memory/optimistic",
       .summary = "a version per key in this process; commits if nobody else has",
       .has = feature::optimistic,
       .promises = safety::transaction,
       .topologies = "memory",
       .algorithm = "compare and swap of a version",
       .options = {},
       .make = [](const driver_setup& s) { return optimistic_on(s.run_names.keys.size()); }},
  };
}

std::vector<lock_kind> shared_kinds() {
  const features waiting = feature::fencing_token | feature::lease | feature::renewable |
                           feature::session_bound | feature::server_wait | feature::fair;
  const lock_kind any{.name = "",
                      .summary = "",
                      .has = waiting,
                      .promises = safety::lease_and_token,
                      .topologies = "memory",
                      .algorithm = "mutex-protected places and a queue per key",
                      .options = {},
                      .make = nullptr};
  lock_kind semaphore = any;
  semaphore.name = "memory/semaphore";
  semaphore.summary = "a fair semaphore in this process";
  semaphore.has = waiting | feature::shared;
  semaphore.options = {{"places", "1 to 1000000000", "3", "how many may hold a key", is_places}};
  semaphore.make = [](const driver_setup& s) {
    return lock_on(keys_of(s.run_names, places_of(s.options)), {});
  };
  semaphore.holders = places_of;
  lock_kind read = any;
  read.name = "memory/read";
  read.summary = "the readers' half of a fair lock for readers and writers, in this process";
  read.has = waiting | feature::shared;
  read.make = [](const driver_setup& s) { return lock_on(keys_of(s.run_names, all_places), {}); };
  read.holders = any_number;
  lock_kind write = any;
  write.name = "memory/write";
  write.summary = "the writers' half of a fair lock for readers and writers, in this process";
  write.readers = read.name;
  write.make = [](const driver_setup& s) {
    return lock_on(keys_of(s.run_names, all_places), {.places = all_places});
  };
  return {semaphore, read, write};
}

}  // namespace lockmark::memory
