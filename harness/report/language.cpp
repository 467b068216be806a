#include "harness/report/language.hpp"

#include <algorithm>
#include <array>

namespace lockmark::report {
namespace {

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
    phrase{"holder paused", "持有者停顿时"},
    phrase{"safe", "安全"},
    phrase{"two holders", "两个持有者"},
    phrase{"durability", "持久性"},
    phrase{"each change", "每次更改"},
    phrase{"each commit", "每次提交"},
    phrase{"all but 1 s", "最多丢 1 秒"},
    phrase{"valid", "有效"},
    phrase{"yes", "是"},
    phrase{"INVALID", "无效"},
    phrase{"incomplete", "未完成"},
    phrase{"contended", "竞争"},
    phrase{"uncontended", "无竞争"},
    phrase{"uncontended_30", "无竞争，30 % 负载"},
    phrase{"uncontended_60", "无竞争，60 % 负载"},
    phrase{"uncontended_80", "无竞争，80 % 负载"},
    phrase{"holder_killed", "持有者被杀"},
    phrase{"holder_paused", "持有者停顿"},
    phrase{"rank", "名次"},
    phrase{"none", "无"},
    phrase{"best-effort", "尽力而为"},
    phrase{"lease+token", "租约+令牌"},
    phrase{"session", "会话"},
    phrase{"transaction", "事务"},
    phrase{"-: the lock does not run there.", "-：该锁不能在此运行。"},
    phrase{"Acquire times are responses of all attempts; > T: not granted within T; -: too few "
           "samples or not known; >= and <=: the harness was the limit. Hand-off: from a release "
           "to the grant of another client. Fairness: Jain's index in short windows, 1 is even.",
           "获取时间是全部尝试的响应时间；> T：在 T 内未获得；-：样本太少或未知；>= 与 <=：压测程序本身"
           "是瓶颈。交接：从释放到另一客户端获得锁。公平性：短时间窗内的 Jain 指数，1 为完全均等。"},
    phrase{"Next grant: from the death of a holder to the grant of another client; > T: none until "
           "the run ended.",
           "下次获取：从持有者死亡到另一客户端获得锁；> T：直到运行结束都未获得。"},
    phrase{"A row is the median of its runs, with the lowest and the highest.",
           "每行为多次运行的中位数，括号内为最低与最高值。"},
    phrase{"A row is the median of its runs, with the lowest and the highest. Equal ranks: no row "
           "is faster beyond these intervals.",
           "每行为多次运行的中位数，括号内为最低与最高值。名次相同：区间重叠，无法分出快慢。"},
    phrase{"A row is the median of its runs.", "每行为多次运行的中位数。"},
    phrase{"A row is the median of its runs. Equal ranks: no row is faster beyond the runs' "
           "differences.",
           "每行为多次运行的中位数。名次相同：各次运行的差异之内无法分出快慢。"},
};
// clang-format on

}  // namespace

std::string translated(std::string_view english, language to) {
  if (to == language::english) return std::string{english};
  const auto found = std::ranges::find(phrases, english, &phrase::english);
  return std::string{found == phrases.end() ? english : found->chinese};
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
