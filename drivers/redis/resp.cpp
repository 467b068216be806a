#include "drivers/redis/resp.hpp"

#include <hiredis/read.h>

#include <cstring>
#include <new>
#include <utility>

namespace lockmark::redis {
namespace {

constexpr std::size_t number_room = 20;
constexpr int most_parts = 1 << 20;

char* put_header(char* at, char mark, std::size_t number) {
  *at++ = mark;
  at = std::to_chars(at, at + number_room, number).ptr;
  *at++ = '\r';
  *at++ = '\n';
  return at;
}

// Where the reader's current value belongs within the reply being built.
reply* place_of(const redisReadTask* at) {
  if (at->parent == nullptr) return static_cast<reply*>(at->privdata);
  auto* const array = static_cast<reply*>(at->parent->obj);
  return &array->parts[static_cast<std::size_t>(at->idx)];
}

void* on_text(const redisReadTask* at, char* text, std::size_t size) {
  reply* const r = place_of(at);
  r->what = at->type == REDIS_REPLY_ERROR    ? reply::kind::error
            : at->type == REDIS_REPLY_STATUS ? reply::kind::status
                                             : reply::kind::text;
  r->text.assign(text, size);
  return r;
}

void* on_array(const redisReadTask* at, int parts) {
  if (parts > most_parts) return nullptr;
  reply* const r = place_of(at);
  r->what = reply::kind::array;
  r->parts.resize(static_cast<std::size_t>(parts));
  return r;
}

void* on_integer(const redisReadTask* at, long long number) {
  reply* const r = place_of(at);
  r->what = reply::kind::integer;
  r->number = number;
  return r;
}

void* on_nil(const redisReadTask* at) {
  return place_of(at);
}

void on_free(void*) {}  // everything belongs to the parser's root

// hiredis takes a pointer to non-const, but never writes through it.
redisReplyObjectFunctions* builders() {
  static redisReplyObjectFunctions all{on_text, on_array, on_integer, on_nil, on_free};
  return &all;
}

}  // namespace

void append_command(std::string& out, const argument* arguments, std::size_t count) {
  std::size_t most = 1 + number_room + 2;
  for (std::size_t i = 0; i < count; ++i) {
    most += 1 + number_room + 2 + arguments[i].text().size() + 2;
  }
  const std::size_t before = out.size();
  out.resize(before + most);
  char* at = put_header(out.data() + before, '*', count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view text = arguments[i].text();
    at = put_header(at, '$', text.size());
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    at += text.size();
    *at++ = '\r';
    *at++ = '\n';
  }
  out.resize(static_cast<std::size_t>(at - out.data()));
}

bool reply::is_error(std::string_view word) const {
  return what == kind::error && text.starts_with(word) &&
         (text.size() == word.size() || text[word.size()] == ' ');
}

void reply_parser::freed::operator()(redisReader* r) const {
  redisReaderFree(r);
}

reply_parser::reply_parser() {
  reset();
}

reply_parser::~reply_parser() = default;

void reply_parser::reset() {
  reader_.reset(redisReaderCreateWithFunctions(builders()));
  if (!reader_) throw std::bad_alloc();
  reader_->privdata = &root_;
  root_ = {};
}

void reply_parser::feed(std::string_view bytes) {
  redisReaderFeed(reader_.get(), bytes.data(), bytes.size());
}

reply_parser::state reply_parser::next(reply& into) {
  void* built = nullptr;
  if (redisReaderGetReply(reader_.get(), &built) != REDIS_OK) return state::malformed;
  if (built == nullptr) return state::incomplete;
  into = std::exchange(root_, {});
  return state::whole;
}

}  // namespace lockmark::redis
