#include "drivers/etcd/fake_peer.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "drivers/etcd/grpc_frames.hpp"

namespace lockmark::etcd {
namespace {

std::string text_in(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

nghttp2_nv named(const std::string& name, const std::string& value) {
  const auto bytes = [](const std::string& text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

// Refers to `headers`.
std::vector<nghttp2_nv> fields_of(const std::map<std::string, std::string>& headers) {
  std::vector<nghttp2_nv> all;
  for (const auto& [name, value] : headers) all.push_back(named(name, value));
  return all;
}

}  // namespace

std::string fake_peer::call::name() const {
  const auto path = headers.find(":path");
  return path == headers.end() ? "" : path->second.substr(path->second.rfind('/') + 1);
}

struct fake_peer::callbacks {
  static fake_peer& of(void* self) { return *static_cast<fake_peer*>(self); }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* self) {
    call& c = of(self).calls_[frame->hd.stream_id];
    c.id = frame->hd.stream_id;
    c.headers[text_in(name, name_size)] = text_in(value, value_size);
    return 0;
  }

  // Messages of a client are neither compressed nor large.
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes,
                     std::size_t size, void* self) {
    std::string& all = of(self).incoming_[id];
    all += text_in(bytes, size);
    while (all.size() >= 5) {
      const std::size_t length =
          static_cast<unsigned char>(all[3]) * 256U + static_cast<unsigned char>(all[4]);
      if (all.size() < 5 + length) break;
      of(self).calls_[id].message = all.substr(5, length);
      all.erase(0, 5 + length);
      of(self).behaviour_(of(self), of(self).calls_[id]);
    }
    return 0;
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    if (frame->hd.type == NGHTTP2_RST_STREAM) {
      of(self).calls_[frame->hd.stream_id].cancelled = true;
    }
    return 0;
  }

  static ssize_t on_sending(nghttp2_session* session, std::int32_t id, std::uint8_t* room,
                            std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                            void* self) {
    reply& r = of(self).replies_[id];
    const std::size_t taken = std::min(size, r.unsent.size());
    std::memcpy(room, r.unsent.data(), taken);
    r.unsent.erase(0, taken);
    if (!r.unsent.empty()) return static_cast<ssize_t>(taken);
    if (!r.ending && taken == 0) return NGHTTP2_ERR_DEFERRED;
    if (!r.ending) return static_cast<ssize_t>(taken);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!r.with_status) return static_cast<ssize_t>(taken);
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    std::map<std::string, std::string> trailers{{"grpc-status", std::to_string(r.code)}};
    if (!r.words.empty()) trailers.emplace("grpc-message", r.words);
    const auto fields = fields_of(trailers);
    nghttp2_submit_trailer(session, id, fields.data(), fields.size());
    return static_cast<ssize_t>(taken);
  }
};

void fake_peer::freed::operator()(nghttp2_session* s) const {
  nghttp2_session_del(s);
}

fake_peer::fake_peer(behaviour b) : behaviour_(std::move(b)) {
  nghttp2_session_callbacks* all = nullptr;
  nghttp2_session_callbacks_new(&all);
  nghttp2_session_callbacks_set_on_header_callback(all, callbacks::on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, callbacks::on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(all, callbacks::on_frame);
  nghttp2_session* made = nullptr;
  nghttp2_session_server_new(&made, all, this);
  nghttp2_session_callbacks_del(all);
  session_.reset(made);
  nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, nullptr, 0);
}

fake_peer::~fake_peer() = default;

bool fake_peer::receive(std::string_view bytes) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return nghttp2_session_mem_recv(session_.get(), data, bytes.size()) >= 0;
}

std::string fake_peer::output() {
  std::string all;
  const std::uint8_t* bytes = nullptr;
  ssize_t size = 0;
  while ((size = nghttp2_session_mem_send(session_.get(), &bytes)) > 0) {
    all += text_in(bytes, static_cast<std::size_t>(size));
  }
  return all;
}

void fake_peer::start(std::int32_t id, int http_status, bool is_grpc) {
  if (std::exchange(replies_[id].started, true)) {
    nghttp2_session_resume_data(session_.get(), id);
    return;
  }
  const std::map<std::string, std::string> headers{
      {":status", std::to_string(http_status)},
      {"content-type", is_grpc ? "application/grpc" : "text/html"}};
  const auto fields = fields_of(headers);
  nghttp2_data_provider body{};
  body.read_callback = callbacks::on_sending;
  nghttp2_submit_response(session_.get(), id, fields.data(), fields.size(), &body);
}

void fake_peer::answer(std::int32_t id, std::string_view message) {
  replies_[id].unsent += framed(message);
  end(id, 0);
}

void fake_peer::say(std::int32_t id, std::string_view bytes) {
  replies_[id].unsent += bytes;
  start(id, 200, true);
}

void fake_peer::end(std::int32_t id, int code, std::string_view words) {
  reply& r = replies_[id];
  r.ending = true;
  r.code = code;
  r.words = words;
  start(id, 200, true);
}

void fake_peer::http(std::int32_t id, int status, std::string_view body) {
  reply& r = replies_[id];
  r.unsent = body;
  r.ending = true;
  r.with_status = false;
  start(id, status, false);
}

void fake_peer::reset(std::int32_t id, std::uint32_t error_code) {
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, error_code);
}

void fake_peer::go_away(std::int32_t last_call) {
  nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE, last_call, NGHTTP2_NO_ERROR, nullptr, 0);
}

std::vector<std::string> fake_peer::names() const {
  std::vector<std::string> all;
  for (const auto& [id, c] : calls_) all.push_back(c.name());
  return all;
}

}  // namespace lockmark::etcd
