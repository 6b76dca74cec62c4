// gunzip() decompresses gzip data. In a build without zlib a stub throws Unsupported.
//
// Thread safety: pure functions; any thread.
// Errors:        Corrupt, with the name of the file and the offset, for invalid gzip data or a
//                wrong checksum; Exhausted for more than `size_max` bytes; Unsupported without
//                zlib. Never returns partial data.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trireme::data::zlib {

// `name` is used in messages.
std::string gunzip(std::string_view packed, const std::string& name, std::size_t size_max);

}  // namespace trireme::data::zlib
