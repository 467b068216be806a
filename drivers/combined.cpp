#include "drivers/combined.hpp"

#include <utility>

namespace lockmark {
namespace {

class read_write_session final : public session {
 public:
  read_write_session(std::unique_ptr<session> writer, std::unique_ptr<session> reader)
      : writer_(std::move(writer)), reader_(std::move(reader)) {}

  task<outcome<grant>> acquire(request r) override { return of(r).acquire(r); }
  task<outcome<grant>> renew(request r) override { return of(r).renew(r); }
  task<outcome<nothing>> release(request r) override { return of(r).release(r); }
  bool alive() const override { return writer_->alive() && reader_->alive(); }

  // Both, even if one throws: connections that stay open would keep what they hold.
  task<void> close() override {
    std::exception_ptr failure;
    try {
      co_await reader_->close();
    } catch (...) {
      failure = std::current_exception();
    }
    co_await writer_->close();
    if (failure) std::rethrow_exception(failure);
  }

  traffic sent() const override {
    traffic both = writer_->sent();
    both += reader_->sent();
    return both;
  }

 private:
  session& of(const request& r) { return r.shared ? *reader_ : *writer_; }

  const std::unique_ptr<session> writer_;
  const std::unique_ptr<session> reader_;
};

class read_write_driver final : public driver {
 public:
  read_write_driver(std::unique_ptr<driver> writers, std::unique_ptr<driver> readers)
      : writers_(std::move(writers)), readers_(std::move(readers)) {}

  task<description> prepare(loop& l, time_point deadline) override {
    co_await readers_->prepare(l, deadline);
    co_return co_await writers_->prepare(l, deadline);
  }

  // The server is the same; connections of both count.
  task<std::vector<finding>> preflight(loop& l, demand d, time_point deadline) override {
    d.clients *= 2;
    return writers_->preflight(l, d, deadline);
  }

  task<void> wipe(loop& l, time_point deadline) override {
    co_await readers_->wipe(l, deadline);
    co_await writers_->wipe(l, deadline);
  }

  task<void> tidy(loop& l, time_point deadline) override {
    co_await readers_->tidy(l, deadline);
    co_await writers_->tidy(l, deadline);
  }

  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    instance reader = who;
    reader.on_login = {};  // a client counts once
    auto reading = co_await readers_->open(l, std::move(reader), deadline);
    std::unique_ptr<session> writing;
    std::exception_ptr failure;
    try {
      writing = co_await writers_->open(l, std::move(who), deadline);
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure) {
      co_await reading->close();
      std::rethrow_exception(failure);
    }
    co_return std::make_unique<read_write_session>(std::move(writing), std::move(reading));
  }

  std::uint64_t connections(const demand& d) const override {
    return writers_->connections(d) + readers_->connections(d);
  }
  std::uint32_t logins_at_once() const override { return writers_->logins_at_once(); }
  task<server_counters> counters(loop& l, time_point deadline) override {
    return writers_->counters(l, deadline);
  }
  task<std::vector<std::uint64_t>> commits(loop& l, time_point deadline) override {
    return writers_->commits(l, deadline);
  }

 private:
  const std::unique_ptr<driver> writers_;
  const std::unique_ptr<driver> readers_;
};

class counted_driver final : public driver {
 public:
  counted_driver(std::unique_ptr<driver> inside, std::unique_ptr<driver> counting)
      : inside_(std::move(inside)), counting_(std::move(counting)) {}

  task<description> prepare(loop& l, time_point deadline) override {
    return inside_->prepare(l, deadline);
  }
  task<std::vector<finding>> preflight(loop& l, demand d, time_point deadline) override {
    return inside_->preflight(l, d, deadline);
  }
  task<void> wipe(loop& l, time_point deadline) override { return inside_->wipe(l, deadline); }
  task<void> tidy(loop& l, time_point deadline) override { return inside_->tidy(l, deadline); }
  task<std::unique_ptr<session>> open(loop& l, instance who, time_point deadline) override {
    return inside_->open(l, std::move(who), deadline);
  }
  std::uint64_t connections(const demand& d) const override { return inside_->connections(d); }
  std::uint32_t logins_at_once() const override { return inside_->logins_at_once(); }
  task<server_counters> counters(loop& l, time_point deadline) override {
    return counting_->counters(l, deadline);
  }
  task<std::vector<std::uint64_t>> commits(loop& l, time_point deadline) override {
    return inside_->commits(l, deadline);
  }

 private:
  const std::unique_ptr<driver> inside_;
  const std::unique_ptr<driver> counting_;
};

}  // namespace

std::unique_ptr<driver> counted_by(std::unique_ptr<driver> inside,
                                   std::unique_ptr<driver> counting) {
  return std::make_unique<counted_driver>(std::move(inside), std::move(counting));
}

lock_kind with_readers(const lock_kind& writers, const lock_kind& readers) {
  lock_kind both = writers;
  both.has = writers.has.without(writers.has.without(readers.has));
  both.make = [write = writers.make, read = readers.make](const driver_setup& s) {
    return std::unique_ptr<driver>(std::make_unique<read_write_driver>(write(s), read(s)));
  };
  return both;
}

}  // namespace lockmark
