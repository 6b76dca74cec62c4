// The header of a safetensors file: 8 bytes of length, then JSON with the type, the sizes and the
// byte range of every tensor. The data follows, without gaps.
//
// Alignment:     lay_out() puts wider types first, and the header is padded to whole pages. Each
//                tensor therefore begins at a multiple of its element size and readers may map the
//                file; and page-aligned data in memory has the same alignment in the file.
// Errors:        Corrupt, with the file name and the reason, if the file is not a valid safetensors
//                file.
// Thread safety: pure functions, except that read_header() reads a file.

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
  StoredDType dtype = StoredDType::F32;
  std::vector<std::int64_t> sizes{};
  std::uint64_t begin = 0;  // from the first byte after the header
  std::uint64_t size = 0;   // in bytes
};

struct Header {
  std::vector<Entry> entries{};  // in the order of their bytes
  std::map<std::string, std::string> metadata{};
  std::uint64_t data_begin = 0;  // the size of the header
};

// Sets `begin` and `size` of every entry and sorts the entries by descending element size; entries
// of equal element size keep their order. Returns, for each entry in the new order, its original
// index.
std::vector<std::size_t> lay_out(std::vector<Entry>& entries);

// The first bytes of the file. REQUIRES: the entries were laid out.
std::string header_text(const std::vector<Entry>& entries,
                        const std::map<std::string, std::string>& metadata);

Header read_header(const std::filesystem::path& path);
// For data that is not a file: `start` contains at least the header, `file_size` counts all bytes.
Header parse_header(std::string_view start, std::uint64_t file_size, const std::string& file);

}  // namespace trireme::checkpoint::format
