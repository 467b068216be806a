// The cost of RESP per command: encoding a lock's commands, parsing their answers.
#include <benchmark/benchmark.h>

#include "drivers/redis/resp.hpp"

namespace lockmark::redis {
namespace {

void encode_set_nx_px(benchmark::State& state) {
  const std::string key = "lockmark:0123456789ab:key-17";
  const std::string owner = "6f1c2b34-0000-4000-8000-000000000001:1";
  std::string out;
  for (auto _ : state) {
    out.clear();
    append_command(out, "SET", key, owner, "NX", "PX", 30000);
    benchmark::DoNotOptimize(out.data());
  }
}
BENCHMARK(encode_set_nx_px);

void parse(benchmark::State& state, std::string_view bytes) {
  reply_parser p;
  reply r;
  for (auto _ : state) {
    p.feed(bytes);
    if (p.next(r) != reply_parser::state::whole) return state.SkipWithError("not a reply");
    benchmark::DoNotOptimize(r);
  }
}
BENCHMARK_CAPTURE(parse, status, "+OK\r\n");
BENCHMARK_CAPTURE(parse, integer, ":29999\r\n");
BENCHMARK_CAPTURE(parse, nil, "$-1\r\n");
BENCHMARK_CAPTURE(parse, message,
                  "*3\r\n$7\r\nmessage\r\n"
                  "$53\r\nredisson_lock__channel:{lockmark:0123456789ab:key-17}\r\n$1\r\n0\r\n");

}  // namespace
}  // namespace lockmark::redis
