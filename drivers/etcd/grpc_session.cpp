#include "drivers/etcd/grpc_session.hpp"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "drivers/etcd/grpc_frames.hpp"

namespace lockmark::etcd {
namespace {

// Of one call. A status and its message need a few hundred.
constexpr std::size_t most_header_bytes = 16 << 10;
constexpr std::size_t longest_words = 1 << 10;  // of a grpc-message

// Windows let the server send so much before it hears that it was read. A stream's is larger than
// any message, the connection's than what a few hundred streams have to say at once.
constexpr std::int32_t stream_window = 128 << 10;
constexpr std::int32_t connection_window = 4 << 20;
static_assert(stream_window > static_cast<std::int32_t>(largest_message));

constexpr std::size_t most_untaken = 256 << 10;  // bytes for the server
constexpr std::size_t longest_complaint = 200;

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

std::optional<int> number_in(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || rest != end || value < 0) return std::nullopt;
  return value;
}

// Of a proxy between, which speaks HTTP only: gRPC's code for its status. Source: github.com/grpc/
// grpc, doc/http-grpc-status-mapping.md.
int code_for_http(int status) {
  constexpr int unknown = 2;
  constexpr int unavailable = 14;
  constexpr std::array busy{429, 502, 503, 504};
  return std::ranges::find(busy, status) == busy.end() ? unknown : unavailable;
}

nghttp2_nv field(std::string_view name, std::string_view value,
                 std::uint8_t flags = NGHTTP2_NV_FLAG_NONE) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), flags};
}

void check(int result) {
  if (result != 0) throw std::bad_alloc();  // of these calls the only failure
}

}  // namespace

// A call that has not ended.
struct grpc_session::stream {
  std::string unsent;  // framed messages
  more messages = more::none;
  message_splitter incoming;
  std::size_t header_bytes = 0;
  int http_status = 0;
  bool is_grpc = false;
  std::optional<int> status;
  std::string words;  // of the status
};

// Called by nghttp2.
struct grpc_session::callbacks {
  static grpc_session& session_of(void* self) { return *static_cast<grpc_session*>(self); }

  static stream* find(void* self, std::int32_t call) {
    const auto found = session_of(self).streams_.find(call);
    return found == session_of(self).streams_.end() ? nullptr : found->second.get();
  }

  static int fail(void* self, std::string why) {
    session_of(self).wrong_ = std::move(why);
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name_bytes,
                       std::size_t name_size, const std::uint8_t* value_bytes,
                       std::size_t value_size, std::uint8_t, void* self) {
    stream* const s = find(self, frame->hd.stream_id);
    if (s == nullptr) return 0;
    s->header_bytes += name_size + value_size;
    if (s->header_bytes > most_header_bytes) {
      return fail(self, fmt::format("more than {} bytes of headers", most_header_bytes));
    }
    const std::string_view name = text_of(name_bytes, name_size);
    const std::string_view value = text_of(value_bytes, value_size);
    if (name == ":status") s->http_status = number_in(value).value_or(0);
    if (name == "content-type") s->is_grpc = value.starts_with("application/grpc");
    if (name == "grpc-message") s->words = percent_decoded(value.substr(0, longest_words));
    if (name == "grpc-status") {
      s->status = number_in(value);
      if (!s->status) return fail(self, "a status of gRPC that is no number");
    }
    return 0;
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t call, const std::uint8_t* bytes,
                     std::size_t size, void* self) {
    stream* const s = find(self, call);
    if (s == nullptr) return 0;
    if (s->http_status != 200) return 0;  // the words of a proxy
    if (!s->is_grpc) return fail(self, "an answer that is no gRPC");
    s->incoming.feed(text_of(bytes, size));
    while (const auto message = s->incoming.next()) {
      session_of(self).listener_.on_message(call, *message);
    }
    return s->incoming.wrong().empty() ? 0 : fail(self, s->incoming.wrong());
  }

  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
    const bool is_ack = (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
    if (frame->hd.type == NGHTTP2_SETTINGS && !is_ack) session_of(self).ready_ = true;
    if (frame->hd.type == NGHTTP2_GOAWAY) session_of(self).leaving_ = true;
    const bool has_body = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    if (!has_body || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    const stream* const s = find(self, frame->hd.stream_id);
    if (s == nullptr) return 0;
    const bool we_are_talking = s->messages == more::may_follow;
    session_of(self).finish(frame->hd.stream_id, NGHTTP2_NO_ERROR);
    if (we_are_talking) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  static int on_close(nghttp2_session*, std::int32_t call, std::uint32_t error_code, void* self) {
    session_of(self).finish(call, error_code);
    return 0;
  }

  static int on_not_sent(nghttp2_session*, const nghttp2_frame* frame, int, void* self) {
    if (frame->hd.type == NGHTTP2_HEADERS) {
      session_of(self).finish(frame->hd.stream_id, NGHTTP2_REFUSED_STREAM);
    }
    return 0;
  }

  static int on_complaint(nghttp2_session*, int, const char* message, std::size_t size,
                          void* self) {
    session_of(self).complaint_.assign(message, std::min(size, longest_complaint));
    return 0;
  }

  static ssize_t on_sending(nghttp2_session*, std::int32_t call, std::uint8_t* room,
                            std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                            void* self) {
    stream* const s = find(self, call);
    if (s == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const std::size_t taken = std::min(size, s->unsent.size());
    std::memcpy(room, s->unsent.data(), taken);
    s->unsent.erase(0, taken);
    if (s->unsent.empty() && s->messages == more::none) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
    } else if (taken == 0) {
      return NGHTTP2_ERR_DEFERRED;
    }
    return static_cast<ssize_t>(taken);
  }

  static void put_into(nghttp2_session_callbacks* all) {
    nghttp2_session_callbacks_set_on_header_callback(all, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(all, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(all, on_close);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(all, on_not_sent);
    nghttp2_session_callbacks_set_error_callback2(all, on_complaint);
  }
};

void grpc_session::freed::operator()(nghttp2_session* s) const {
  nghttp2_session_del(s);
}

grpc_session::grpc_session(std::string authority, bool secure, listener& l)
    : authority_(std::move(authority)), secure_(secure), listener_(l) {
  nghttp2_session_callbacks* all = nullptr;
  check(nghttp2_session_callbacks_new(&all));
  const std::unique_ptr<nghttp2_session_callbacks, void (*)(nghttp2_session_callbacks*)> kept(
      all, nghttp2_session_callbacks_del);
  callbacks::put_into(all);
  nghttp2_option* options = nullptr;
  check(nghttp2_option_new(&options));
  const std::unique_ptr<nghttp2_option, void (*)(nghttp2_option*)> kept_options(options,
                                                                                nghttp2_option_del);
  nghttp2_option_set_no_closed_streams(options, 1);
  nghttp2_session* made = nullptr;
  check(nghttp2_session_client_new2(&made, all, this, options));
  session_.reset(made);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, most_header_bytes},
  };
  check(nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings, std::size(settings)));
  check(nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, connection_window));
  collect();
}

grpc_session::~grpc_session() = default;

bool grpc_session::may_start() const {
  return wrong_.empty() && nghttp2_session_check_request_allowed(session_.get()) != 0;
}

std::int32_t grpc_session::start(std::string_view path, std::string_view message, more messages,
                                 std::string_view token) {
  if (!may_start()) return 0;
  const std::array fields{
      field(":method", "POST"),
      field(":scheme", secure_ ? "https" : "http"),
      field(":authority", authority_),
      field(":path", path),
      field("te", "trailers"),
      field("content-type", "application/grpc"),
      field("user-agent", "lockmark"),
      // A server without a leader says so at once, instead of nothing until it has one.
      field("hasleader", "true"),
      field("token", token, NGHTTP2_NV_FLAG_NO_INDEX),
  };
  const std::size_t count = token.empty() ? fields.size() - 1 : fields.size();
  nghttp2_data_provider body{};
  body.read_callback = callbacks::on_sending;
  const std::int32_t call =
      nghttp2_submit_request(session_.get(), nullptr, fields.data(), count, &body, nullptr);
  if (call <= 0) return 0;
  auto opened = std::make_unique<stream>();
  opened->unsent = framed(message);
  opened->messages = messages;
  streams_.emplace(call, std::move(opened));
  return call;
}

void grpc_session::send(std::int32_t call, std::string_view message) {
  const auto found = streams_.find(call);
  if (found == streams_.end()) return;
  found->second->unsent += framed(message);
  nghttp2_session_resume_data(session_.get(), call);
}

void grpc_session::cancel(std::int32_t call) {
  if (streams_.erase(call) == 0) return;
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, call, NGHTTP2_CANCEL);
}

void grpc_session::finish(std::int32_t call, std::uint32_t error_code) {
  const auto found = streams_.find(call);
  if (found == streams_.end()) return;
  const auto s = std::move(found->second);
  streams_.erase(found);
  call_end end;
  const bool is_http = s->http_status != 0 && s->http_status != 200;
  if (is_http) {
    end = {call_end::how::answered, code_for_http(s->http_status),
           fmt::format("HTTP status {}", s->http_status)};
  } else if (s->status && s->incoming.inside_message()) {
    end.message = "half a message";
  } else if (s->status) {
    end = {call_end::how::answered, *s->status, std::move(s->words)};
  } else if (error_code == NGHTTP2_REFUSED_STREAM) {
    end.ended = call_end::how::refused;
  } else {
    end.message = fmt::format("no status, HTTP/2 error {}", error_code);
  }
  listener_.on_end(call, std::move(end));
}

bool grpc_session::receive(std::string_view bytes) {
  if (!wrong_.empty()) return false;
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t read = nghttp2_session_mem_recv(session_.get(), data, bytes.size());
  if (read < 0 && wrong_.empty()) wrong_ = nghttp2_strerror(static_cast<int>(read));
  collect();
  // Without a goodbye of the server's it is nghttp2 that ends the connection, for what it read.
  const bool is_over = nghttp2_session_want_read(session_.get()) == 0;
  if (wrong_.empty() && is_over && !leaving_) wrong_ = "something that is no HTTP/2";
  if (!wrong_.empty() && !complaint_.empty()) wrong_ += fmt::format(" ({})", complaint_);
  return wrong_.empty();
}

// Beyond what somebody takes it stays with nghttp2, which counts the acknowledgements that a server
// makes it keep.
void grpc_session::collect() {
  if (!wrong_.empty() || out_.size() > most_untaken) return;
  const std::uint8_t* bytes = nullptr;
  ssize_t size = 0;
  while ((size = nghttp2_session_mem_send(session_.get(), &bytes)) > 0) {
    out_.append(text_of(bytes, static_cast<std::size_t>(size)));
  }
  if (size < 0) wrong_ = nghttp2_strerror(static_cast<int>(size));
}

void grpc_session::take_output(std::string& out) {
  collect();
  if (out.empty()) {
    out.swap(out_);
  } else {
    out += out_;
  }
  out_.clear();
}

}  // namespace lockmark::etcd
