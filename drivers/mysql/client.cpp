// The calls that are the same with both libraries. None of them waits.
#include "drivers/mysql/client.hpp"

#include <utility>

#include "drivers/mysql/client_state.hpp"

namespace lockmark::mysql {

bool client::has_rows() const {
  return mysql_field_count(state_->library) != 0;
}

bool client::begin_rows() {
  state_->result = mysql_use_result(state_->library);
  return state_->result != nullptr;
}

std::uint64_t client::affected() const {
  return mysql_affected_rows(state_->library);
}

const char* const* client::row() const {
  return state_->row;
}

const unsigned long* client::lengths() const {
  return mysql_fetch_lengths(state_->result);
}

std::size_t client::columns() const {
  return mysql_num_fields(state_->result);
}

unsigned long client::id() const {
  return mysql_thread_id(state_->library);
}

bool client::encrypted() const {
  return mysql_get_ssl_cipher(state_->library) != nullptr;
}

// The five bytes of the goodbye go to a socket with nothing else to send, so they never wait.
void client::say_goodbye() {
  forget_rows();
  mysql_close(std::exchange(state_->library, nullptr));
}

}  // namespace lockmark::mysql
