#include "harness/agents/coordinator.hpp"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <mutex>
#include <random>
#include <thread>

#include "agents.grpc.pb.h"
#include "harness/agents/agent_worker_pool.hpp"
#include "harness/agents/wire.hpp"
#include "harness/base/errors.hpp"

namespace lockmark::agents {
namespace {

using namespace std::chrono_literals;

using work_stream = grpc::ServerReaderWriter<wire::ToAgent, wire::FromAgent>;
using stamp_stream = grpc::ServerReaderWriter<wire::CoordinatorStamp, wire::AgentStamp>;

std::string random_session() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

double seconds(duration d) {
  return std::chrono::duration<double>(d).count();
}

// No byte earlier than another one tells how much of a guess was right.
bool same_token(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differs |= static_cast<unsigned>(a[i] ^ b[i]);
  return differs == 0;
}

}  // namespace

class coordinator::service final : public wire::Coordinator::Service {
 public:
  service(const real_clock& clock, const coordinator_setup& s) : clock_(clock), setup_(s) {}

  void listen() {
    silence_grpc();
    grpc::SslServerCredentialsOptions tls;
    tls.pem_key_cert_pairs.push_back({setup_.who.key, setup_.who.guests.certificate});
    grpc::ServerBuilder builder;
    builder.AddListeningPort(setup_.listen, grpc::SslServerCredentials(tls), &port_);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.SetMaxReceiveMessageSize(largest_message);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port_ == 0) {
      throw usage_error(
          "--listen: cannot listen on {}: is it an address of this machine, and free?",
          setup_.listen);
    }
  }

  void shut_down() {
    for (agent_link* l : links()) l->dismiss();
    if (server_) server_->Shutdown(deadline_after(1s));
  }

  int port() const { return port_; }
  std::vector<agent_link*> links() const {
    const std::lock_guard guard(mutex_);
    std::vector<agent_link*> all;
    for (const auto& l : links_) all.push_back(l.get());
    return all;
  }
  std::string last_refusal() const {
    const std::lock_guard guard(mutex_);
    return last_refusal_;
  }

  grpc::Status Work(grpc::ServerContext* context, work_stream* stream) override {
    wire::FromAgent first;
    if (!stream->Read(&first) || !first.has_hello()) return grpc::Status::OK;
    agent_link* link = nullptr;
    wire::ToAgent answer;
    if (const std::string why = admit(first.hello(), link); !why.empty()) {
      answer.mutable_refusal()->set_sentence(why);
      stream->Write(answer);
      return grpc::Status::OK;
    }
    const std::uint64_t connection = link->connect(first.hello().run());
    answer.mutable_welcome()->set_session(link->session());
    answer.mutable_welcome()->set_received(link->received());
    if (stream->Write(answer)) serve(*context, *stream, *link, connection);
    link->disconnect(connection);
    return grpc::Status::OK;
  }

  grpc::Status Stamps(grpc::ServerContext*, stamp_stream* stream) override {
    agent_link* link = nullptr;
    exchange last;
    wire::AgentStamp from;
    while (stream->Read(&from)) {
      const std::int64_t received_ns = to_ns(clock_.now());
      if (link == nullptr) link = link_of(from.session());
      if (link == nullptr) break;
      if (from.heard_ns() != 0 && last.sent_ns != 0) {
        last.heard_ns = from.heard_ns();
        last.drift_ppm = drift_ppm(from.slew_ppm(), clock_slew_ppm());
        link->learn(last);
      }
      last.sent_ns = from.sent_ns();
      last.received_ns = received_ns;
      wire::CoordinatorStamp back;
      back.set_received_ns(received_ns);
      back.set_slew_ppm(clock_slew_ppm());
      last.answered_ns = to_ns(clock_.now());
      back.set_answered_ns(last.answered_ns);
      if (!stream->Write(back)) break;
    }
    return grpc::Status::OK;
  }

 private:
  void serve(grpc::ServerContext& context, work_stream& stream, agent_link& link,
             std::uint64_t connection) {
    std::thread writer([&] {
      while (const auto out = link.next(connection)) {
        if (!stream.Write(*out)) break;
        if (out->has_refusal()) break;
      }
      context.TryCancel();  // so that the reader ends, too
    });
    try {
      wire::FromAgent message;
      while (stream.Read(&message) && link.take(connection, message)) continue;
    } catch (const std::exception& e) {
      refused(fmt::format("agent {} sent what cannot be: {}", link.facts().name, e.what()));
    }
    link.disconnect(connection);
    writer.join();
  }

  // The reason against; empty: `link` is its link.
  std::string admit(const wire::Hello& hello, agent_link*& link) {
    const std::lock_guard guard(mutex_);
    std::string why = reason_against(hello, link);
    if (!why.empty()) last_refusal_ = fmt::format("{} was refused: {}", hello.name(), why);
    return why;
  }

  std::string reason_against(const wire::Hello& hello, agent_link*& link) {
    if (!same_token(hello.token(), setup_.who.guests.token))
      return "its token is not that of this run";
    if (hello.protocol() != protocol || hello.build() != setup_.build) {
      return fmt::format("it is {}, and this is {}; all machines need the same build",
                         hello.build(), setup_.build);
    }
    if (!hello.session().empty()) {
      link = find(&agent_link::session, hello.session());
      return link == nullptr ? "its session is of another run" : "";
    }
    const auto has_name = [&](const auto& l) { return l->facts().name == hello.name(); };
    if (std::ranges::any_of(links_, has_name)) {
      return fmt::format("there is an agent {} already; --name tells them apart", hello.name());
    }
    if (links_.size() >= setup_.agents) {
      return fmt::format("this run has its {} agents", setup_.agents);
    }
    host_facts facts{hello.name(), hello.host(), hello.cores()};
    links_.push_back(std::make_unique<agent_link>(clock_, std::move(facts), random_session()));
    link = links_.back().get();
    return {};
  }

  agent_link* find(const std::string& (agent_link::*what)() const, const std::string& value) const {
    for (const auto& l : links_) {
      if ((l.get()->*what)() == value) return l.get();
    }
    return nullptr;
  }
  agent_link* link_of(const std::string& session) const {
    const std::lock_guard guard(mutex_);
    return find(&agent_link::session, session);
  }
  void refused(std::string why) {
    const std::lock_guard guard(mutex_);
    last_refusal_ = std::move(why);
  }

  const real_clock& clock_;
  const coordinator_setup& setup_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<agent_link>> links_;
  std::string last_refusal_;
};

coordinator::coordinator(const real_clock& clock, coordinator_setup s)
    : clock_(clock), setup_(std::move(s)), service_(std::make_unique<service>(clock, setup_)) {
  service_->listen();
}

coordinator::~coordinator() {
  service_->shut_down();
}

std::string coordinator::address() const {
  const auto colon = setup_.listen.rfind(':');
  return fmt::format("{}:{}", setup_.listen.substr(0, colon), service_->port());
}

std::string coordinator::invitation_text() const {
  return to_text(setup_.who.guests);
}

std::vector<agent_link*> coordinator::links() const {
  return service_->links();
}

void coordinator::wait(const std::atomic<int>& interrupts,
                       const std::function<std::string()>& why_none) {
  const time_point by = clock_.now() + setup_.within;
  const auto ready = [&] {
    const auto all = links();
    return all.size() >= setup_.agents && std::ranges::all_of(all, &agent_link::knows_clock);
  };
  std::string said;
  while (!ready()) {
    if (interrupts.load() > 0) throw usage_error("interrupted before the agents had joined");
    const std::string why = why_none();
    if (!why.empty() || clock_.now() > by) {
      std::string sentence = fmt::format("--agents: {} of {} agents joined {}", links().size(),
                                         setup_.agents, address());
      if (why.empty()) sentence += fmt::format(" within {:.0f} s", seconds(setup_.within));
      for (const std::string& more : {service_->last_refusal(), why}) {
        if (!more.empty()) sentence += "; " + more;
      }
      throw usage_error(sentence);
    }
    if (const std::string now = service_->last_refusal(); now != said) setup_.tell(said = now);
    block_until(clock_.now() + 20ms);
  }
}

double coordinator::cores() const {
  double sum = 0;
  for (const agent_link* l : links()) sum += l->lost() ? 0 : l->facts().cores;
  return sum;
}

std::unique_ptr<run::separate_pool> coordinator::make_pool(const run::process_pool_setup& who) {
  return std::make_unique<agent_worker_pool>(clock_, links(), who, ++runs_, setup_.tell);
}

}  // namespace lockmark::agents
