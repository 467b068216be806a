// Asio's own code, compiled once for the whole project (ASIO_SEPARATE_COMPILATION).
#include <asio/impl/src.hpp>
