// Histograms as bytes and text: HdrHistogram's V2 encoding, plain, compressed, and in Base64.
//
// V2 (read from the sources of HdrHistogram): a big-endian header {cookie, payload length,
// normalizing index offset, significant digits: int32; lowest, highest: int64; conversion ratio:
// double}, then the counters as ZigZag LEB128 numbers of at most 9 bytes, where -z stands for z
// zeros, up to the last counter in use. Compressed: {cookie, length} and that as a zlib stream.
//
// Only counters are encoded: the exact minimum, maximum, sum and clamped counts of a histogram are
// lost. Equal histograms give equal plain encodings. This reads only histograms with our own range.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/stats/histogram.hpp"

namespace lockmark::stats {

// Bytes or text that are not an encoded histogram; what() is a sentence with the reason.
class encoding_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string encode_v2(const histogram& source);
std::string encode_compressed(const histogram& source);
// The form used in .hlog files and in run.json; starts with "HISTFAAA".
std::string encode_base64(const histogram& source);

// Each throws encoding_error on anything but a complete encoding of its kind.
histogram decode_v2(std::string_view bytes);
histogram decode_compressed(std::string_view bytes);
histogram decode_base64(std::string_view text);

// RFC 4648, section 4, with padding and without line breaks.
std::string to_base64(std::string_view bytes);
std::string from_base64(std::string_view text);

}  // namespace lockmark::stats
