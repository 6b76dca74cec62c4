// gunzip unpacks what gzip packed. Without zlib the build has a stub that says so; nobody asks.
//
// Threads: pure.
// Failure: Corrupt with the file's name and the offset in it for anything that gzip did not write
//          so, its checksum included; Exhausted for more than `size_max` bytes; Unsupported without
//          zlib. Nothing is returned in part.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trireme::data::zlib {

// `name` is for messages.
std::string gunzip(std::string_view packed, const std::string& name, std::size_t size_max);

}  // namespace trireme::data::zlib
