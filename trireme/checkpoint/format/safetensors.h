// The header of a safetensors file: 8 bytes of length, then JSON that says of every tensor its
// type, its sizes and where its bytes lie. The bytes follow, without gaps.
//
// Alignment: lay_out() puts wider types first and the header is padded to whole pages, so that each
//            tensor begins at a multiple of its element's size, and readers may map the file; and
//            so that a copy in memory that begins on a page lies there as in the file.
// Failure:   a file that is not one is Corrupt, with its name and what is wrong with it.
// Threads:   pure but for the reading of files.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/checkpoint/format/dtype.h"

namespace trireme::checkpoint::format {

inline constexpr std::size_t kDataAlignment = 4096;  // of the first byte after the header

struct Entry {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::int64_t> sizes{};
  std::uint64_t begin = 0;  // from the first byte after the header
  std::uint64_t size = 0;   // in bytes
};

struct Header {
  std::vector<Entry> entries{};  // in the order of their bytes
  std::map<std::string, std::string> metadata{};
  std::uint64_t data_begin = 0;  // the header's own size
};

// Product of the sizes; throws Exhausted where it or its bytes leave 63 bits, InvalidInput for a
// negative size.
std::int64_t count_of(const std::vector<std::int64_t>& sizes);

// Sets `begin` and `size` of every entry and orders them, wide types first, else as given.
// Returns, for each entry in its new order, the index it was given at.
std::vector<std::size_t> lay_out(std::vector<Entry>& entries);

// The first bytes of the file, for entries that were laid out.
std::string header_text(const std::vector<Entry>& entries,
                        const std::map<std::string, std::string>& metadata);

Header read_header(const std::filesystem::path& path);
// For what is not a file: `start` holds at least the header, `file_size` counts all bytes.
Header parse_header(std::string_view start, std::uint64_t file_size, const std::string& file);

}  // namespace trireme::checkpoint::format
