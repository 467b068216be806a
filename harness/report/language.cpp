#include "harness/report/language.hpp"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace lockmark::report {
namespace {

// "{}" marks the part that differs between runs: a number, a name.
struct phrase {
  std::string_view english;
  std::string_view chinese;
};

// clang-format off
constexpr std::array phrases{
    phrase{"lock", "锁"},
    phrase{"cluster mode", "集群模式"},
    phrase{"implementation", "实现方式"},
    phrase{"scenario", "场景"},
    phrase{"safety", "安全性"},
    phrase{"valid", "有效"},
    phrase{"yes", "是"},
    phrase{"INVALID", "无效"},
    phrase{"incomplete", "未完成"},
    phrase{"contended", "竞争"},
    phrase{"uncontended", "无竞争"},
    phrase{"none", "无"},
    phrase{"best-effort", "尽力而为"},
    phrase{"lease+token", "租约+令牌"},
    phrase{"session", "会话"},
    phrase{"transaction", "事务"},
    phrase{"incomplete: {}", "未完成：{}"},
    phrase{"debug build", "调试版本"},
    phrase{"a load thread used {} % of its core (limit {} %)",
           "一个负载线程用了其核心的 {} %（上限 {} %）"},
    phrase{"the harness used {} % of its cores (limit {} %)",
           "压测程序用了其全部核心的 {} %（上限 {} %）"},
    phrase{"attempts began {} ms late at p99 although a client was free (limit {} ms)",
           "虽有空闲客户端，尝试在 p99 处仍晚开始 {} ms（上限 {} ms）"},
    phrase{"idle threads were kept from running for {} ms at p99.9, longer than the reported p99 "
           "of {} ms",
           "空闲线程在 p99.9 处被推迟运行 {} ms，长于所报告的 p99（{} ms）"},
    phrase{"the hypervisor took {} % of the machine (limit {} %)",
           "虚拟机监控程序占用了机器的 {} %（上限 {} %）"},
    phrase{"the CPU quota stopped the harness {} times", "CPU 配额使压测程序停顿 {} 次"},
    phrase{"clients in flight, sampled and by the stamps, differ by {} % (Little's law)",
           "在途客户端数的采样值与时间戳推算值相差 {} %（利特尔法则）"},
    phrase{"saturated: {} due attempts were dropped", "饱和：丢弃了 {} 次到期的尝试"},
    phrase{"{}/s were begun of {}/s offered although clients were free",
           "虽有空闲客户端，每秒 {} 次请求的负载只开始了 {} 次"},
    phrase{"{}/s offered is more than half of the {}/s that the harness does without a lock",
           "每秒 {} 次的负载超过压测程序不带锁时（每秒 {} 次）的一半"},
    phrase{"not stationary: p50 changed by {} % over the run", "不平稳：p50 在运行期间变化 {} %"},
    phrase{"in a process of its own: {} a call for the pipe, taken out",
           "客户端在独立进程中：每次调用的管道开销为 {}，已扣除"},
    phrase{"interrupted before the measurement was complete", "测量完成前被中断"},
    phrase{"no server at {} answered for {}", "{} 处的服务器在 {} 内没有应答"},
    phrase{"TPS by lock and cluster mode: {}", "按锁与集群模式的 TPS：{}"},
    phrase{"-: the lock does not run there.", "-：该锁不能在此运行。"},
    phrase{"Acquire times are responses of all attempts; > T: not granted within T; -: too few "
           "samples or not known; >= and <=: the harness was the limit. Hand-off: from a release "
           "to the grant of another client. Fairness: Jain's index in short windows, 1 is even.",
           "获取时间是全部尝试的响应时间；> T：在 T 内未获得；-：样本太少或未知；>= 与 <=：压测程序本身"
           "是瓶颈。交接：从释放到另一客户端获得锁。公平性：短时间窗内的 Jain 指数，1 为完全均等。"},
};
// clang-format on

// The text for each "{}" of the pattern; nothing if the text does not match.
std::optional<std::vector<std::string_view>> match(std::string_view pattern,
                                                   std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto hole = pattern.find("{}");
    const std::string_view fixed = pattern.substr(0, hole);
    if (!text.starts_with(fixed)) return std::nullopt;
    text.remove_prefix(fixed.size());
    if (hole == std::string_view::npos) {
      if (!text.empty()) return std::nullopt;
      return parts;
    }
    pattern.remove_prefix(hole + 2);
    const std::string_view next = pattern.substr(0, pattern.find("{}"));
    const auto end = next.empty() ? text.size() : text.find(next);
    if (end == std::string_view::npos || end == 0) return std::nullopt;
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

std::string filled(std::string_view pattern, const std::vector<std::string_view>& parts) {
  std::string text;
  for (const std::string_view part : parts) {
    const auto hole = pattern.find("{}");
    text += pattern.substr(0, hole);
    text += part;
    pattern.remove_prefix(hole + 2);
  }
  return text += pattern;
}

}  // namespace

std::string translated(std::string_view english, language to) {
  if (to == language::english) return std::string{english};
  for (const phrase& p : phrases) {
    const auto parts = match(p.english, english);
    if (parts) return filled(p.chinese, *parts);
  }
  return std::string{english};
}

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0U) == 0x80U) continue;  // a code point's later bytes
    width += byte >= 0xe3U ? 2 : 1;         // from U+3000 on: wide
  }
  return width;
}

}  // namespace lockmark::report
