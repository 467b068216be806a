// Waiting for keys to be deleted: the watches of one instance's clients, over one stream.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "drivers/etcd/channel.hpp"
#include "drivers/etcd/messages.hpp"

namespace lockmark::etcd {

class watch_board final : channel::talk {
 public:
  // `to` and `count` must outlive this.
  watch_board(loop& l, channel& to, traffic& count) : loop_(l), channel_(to), count_(count) {}

  enum class ending : std::uint8_t {
    deleted,
    deadline,
    lost,     // with the stream, or for want of history: look again
    refused,  // by the server, for good
  };

  // Waits until the key has been deleted at `from` or later.
  task<ending> deletion_of(std::string key, revision from, time_point deadline);

 private:
  struct watch {
    explicit watch(loop& l) : news(l) {}
    signal news;
    ending end = ending::deadline;
    bool is_set = true;  // on the server
  };

  bool on_news(std::string_view message) override;
  void on_over(trouble why) override;

  loop& loop_;
  channel& channel_;
  traffic& count_;
  std::unordered_map<std::int64_t, watch*> watches_;
  std::int64_t last_id_ = 0;
  std::int32_t stream_ = 0;  // 0: none
  bool login_ended_ = false;
};

}  // namespace lockmark::etcd
