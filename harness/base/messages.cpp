#include "harness/base/messages.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/base/lists.hpp"

namespace lockmark {
namespace {

// "{}" is a gap for a value.
struct sentence {
  std::string_view id, english, chinese;
};

// clang-format off
constexpr std::array sentences{
    sentence{"incomplete", "incomplete", "未完成"},
    sentence{"incomplete_because", "incomplete: {}", "未完成：{}"},
    sentence{"debug_build", "debug build", "调试版本"},
    sentence{"late_host", "agent {} heard {} ms too late when to begin or to end: the hosts "
             "measured different times",
             "代理 {} 晚 {} ms 才得知开始或结束的时刻：各主机的测量时段不同"},
    sentence{"busy_worker", "a load thread used {} % of its core (limit {} %)",
             "一个负载线程用了其核心的 {} %（上限 {} %）"},
    sentence{"busy_harness", "the harness used {} % of its cores (limit {} %)",
             "压测程序用了其全部核心的 {} %（上限 {} %）"},
    sentence{"busy_proxies", "lockmark's proxies used {} % of a core (limit {} %)",
             "压测程序的代理用了一个核心的 {} %（上限 {} %）"},
    sentence{"late_attempts",
             "attempts began {} ms late at p99 although a client was free (limit {} ms)",
             "虽有空闲客户端，尝试在 p99 处仍晚开始 {} ms（上限 {} ms）"},
    sentence{"hiccups", "host stalls ({} ms at p99.9) exceed the measured p99 of {} ms",
             "空闲线程在 p99.9 处被推迟运行 {} ms，长于所报告的 p99（{} ms）"},
    sentence{"hiccups_of_time", "host stalls ({} ms or longer for 1 % of the time) exceed the "
             "measured p99 of {} ms",
             "有 1 % 的时间空闲线程被推迟运行 {} ms 或更久，长于所报告的 p99（{} ms）"},
    sentence{"lockmark_froze", "lockmark stood still for {} s of the {} s measured (longest: {} s, "
             "from {} s on), by no fault of the job",
             "lockmark 停顿 {} s（测量共 {} s；最长 {} s，始于第 {} s），并非作业注入的故障"},
    sentence{"thread_froze", "load thread {} stood still for {} s of the {} s measured (longest: "
             "{} s, from {} s on), by no fault of the job",
             "负载线程 {} 停顿 {} s（测量共 {} s；最长 {} s，始于第 {} s），并非作业注入的故障"},
    sentence{"participants_froze", "every participant stood still, for {} s of the {} s measured "
             "(longest: {} s, from {} s on), by no fault of the job",
             "所有参与进程停顿 {} s（测量共 {} s；最长 {} s，始于第 {} s），并非作业注入的故障"},
    sentence{"participant_froze", "participant {} stood still for {} s of the {} s measured "
             "(longest: {} s, from {} s on), by no fault of the job",
             "参与进程 {} 停顿 {} s（测量共 {} s；最长 {} s，始于第 {} s），并非作业注入的故障"},
    sentence{"machine_suspended", "the machine was suspended for {} s, {} s into the measurement",
             "机器被挂起 {} s，始于测量的第 {} s"},
    sentence{"steal", "the hypervisor took {} % of the machine (limit {} %)",
             "虚拟机监控程序占用了机器的 {} %（上限 {} %）"},
    sentence{"throttled", "the CPU quota stopped the harness {} times",
             "CPU 配额使压测程序停顿 {} 次"},
    sentence{"cpu_waiting", "the cores were short: some task waited for one {} % of the time",
             "CPU 核心不足：{} % 的时间有任务在等待核心"},
    sentence{"littles_law",
             "clients in flight, sampled and by the stamps, differ by {} % (Little's law)",
             "在途客户端数的采样值与时间戳推算值相差 {} %（利特尔法则）"},
    sentence{"dropped", "saturated: {} due attempts were dropped",
             "饱和：丢弃了 {} 次到期的尝试"},
    sentence{"too_few_begun", "{}/s were begun of {}/s offered although clients were free",
             "虽有空闲客户端，每秒只开始了 {} 次，而负载为每秒 {} 次"},
    sentence{"near_floor",
             "{}/s offered is more than half of the {}/s that the harness does without a lock",
             "每秒 {} 次的负载超过压测程序不带锁时（每秒 {} 次）的一半"},
    sentence{"held_less_by_handoffs",
             "the key was held {} of the time, and free for {} while somebody wanted it: hand-offs "
             "are long beside the holds",
             "锁仅有 {} 的时间被持有，{} 的时间空闲却有人等待：交接时间相对持有时间较长"},
    sentence{"held_less_by_demand",
             "the key was held {} of the time, and free for {} while somebody wanted it: its "
             "clients want it no more often",
             "锁仅有 {} 的时间被持有，{} 的时间空闲却有人等待：客户端的需求不更多"},
    sentence{"runs_left_out", "{} of {} runs were INVALID or incomplete, and are left out",
             "{}/{} 次运行无效或不完整，未计入"},
    sentence{"drifting", "not stationary: p50 changed over the run", "不平稳：p50 在运行期间有变化"},
    sentence{"p50_fell", "not stationary: p50 fell from {} to {} over the run",
             "不平稳：p50 在运行期间从 {} 降至 {}"},
    sentence{"p50_rose", "not stationary: p50 rose from {} to {} over the run",
             "不平稳：p50 在运行期间从 {} 升至 {}"},
    sentence{"untested_nothing", "not tested: {}", "未检验：{}"},
    sentence{"untested_shared",
             "not tested: any number of clients may hold it at once, and nobody whom they exclude "
             "took part",
             "未检验：任意多个客户端可同时持有，而没有与其互斥者参与"},
    sentence{"untested_one_client", "not tested: there was one client, and so nobody to exclude",
             "未检验：只有一个客户端，无可互斥者"},
    sentence{"untested_own_keys", "not tested: each client had a key of its own",
             "未检验：每个客户端使用各自的键"},
    sentence{"untested_no_grant", "not tested: no client was granted the lock",
             "未检验：没有客户端获得锁"},
    sentence{"untested_no_hold",
             "not tested: every hold was over before another client's answer could be read "
             "(hold: 0s)",
             "未检验：每次持有都在能读到其他客户端的应答之前结束（hold: 0s）"},
    sentence{"untested_no_meeting",
             "not tested: no client asked for a key while another one held it",
             "未检验：没有客户端在键被他人持有时请求该键"},
    sentence{"untested_no_conflict", "not tested: no commit met another one",
             "未检验：没有提交与其他提交相遇"},
    sentence{"never_granted",
             "starvation: of {} clients, {} never got the lock during the measurement",
             "饥饿：{} 个客户端中有 {} 个在测量期间从未获得锁"},
    sentence{"few_took_most", "starvation: of {} clients, the luckiest {} had {} % of the grants",
             "饥饿：{} 个客户端中最幸运的 {} 个占全部获取的 {} %"},
    sentence{"pipe", "in a process of its own: {} a call for the pipe, taken out",
             "客户端在独立进程中：每次调用的管道开销为 {}，已扣除"},
    sentence{"pipe_and_p99",
             "in a process of its own: {} a call for the pipe (p99 {}), taken out",
             "客户端在独立进程中：每次调用的管道开销为 {}（p99 为 {}），已扣除"},
    sentence{"long_pipe",
             "{} ms for the pipe at {} (limit {} ms) were taken out of a response, then {} ms: an "
             "estimate, because requests that the client is late to read wait in the pipe as well",
             "已从响应中扣除管道开销 {} ms（{} 处，上限 {} ms），余下 {} ms 只是估计值："
             "因为客户端未及时读取的请求也在管道中等待"},
    sentence{"pipe_unknown",
             "the client does not stamp its answers: the pipe to its process is part of the times",
             "客户端的应答不带时间戳：到其进程的管道开销计入各时间"},
    sentence{"closing_in", "{}: {}", "{}：{}"},
    sentence{"closing_soonest", "Soonest next grant after a holder's death: {}",
             "持有者死亡后最快再次授予：{}"},
    sentence{"closing_fast_even", "Fast and even: {}", "快且均匀：{}"},
    sentence{"closing_even", "Even waits: {}", "等待均匀：{}"},
    sentence{"closing_fast_uneven", "Fast but uneven: {}", "快但不均匀：{}"},
    sentence{"closing_uneven", "Uneven waits: {}", "等待不均匀：{}"},
    sentence{"closing_unknown", "Too few samples to tell: {}", "样本太少，无法判断：{}"},
    sentence{"closing_no_safety", "No safety promised: {}", "不承诺安全性：{}"},
    sentence{"closing_bounds", "Bounds only, the harness was the limit: {}",
             "仅为界限，压测程序本身是瓶颈：{}"},
    sentence{"closing_untested", "Not tested: {}", "未检验：{}"},
    sentence{"closing_violated", "DID NOT HOLD: {}", "未能互斥：{}"},
    sentence{"closing_invalid", "INVALID or incomplete, not to be used: {}",
             "无效或未完成，不可采用：{}"},
    sentence{"closing_alike", "No lock is faster beyond the runs' differences",
             "各次运行的差异之内无法分出快慢"},
    sentence{"closing_figures", "{} (fairness {}, p99 {} times p50)",
             "{}（公平性 {}，p99 为 p50 的 {} 倍）"},
    sentence{"closing_next", "Next: {}", "下一步：{}"},
    sentence{"closing_report", "Report: {}", "报告：{}"},
    sentence{"closing_more", "{} and {} more", "{} 等另 {} 个"},
    sentence{"tps_by_lock", "TPS by lock and cluster mode: {}", "按锁与集群模式的 TPS：{}"},
};
// clang-format on

std::string filled(std::string_view pattern, const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) {
    const auto gap = pattern.find("{}");
    if (gap == pattern.npos) break;
    text += pattern.substr(0, gap);
    text += value;
    pattern.remove_prefix(gap + 2);
  }
  return text += pattern;
}

}  // namespace

std::string text_of(const message& m, language in) {
  const auto found = std::ranges::find(sentences, m.id, &sentence::id);
  if (found != sentences.end()) {
    return filled(in == language::chinese ? found->chinese : found->english, m.values);
  }
  return joined(m.values, {}, " ");
}

std::vector<std::string> texts_of(const std::vector<message>& all, language in) {
  std::vector<std::string> texts;
  for (const message& m : all) texts.push_back(text_of(m, in));
  return texts;
}

}  // namespace lockmark
