// JPEG files for the loader to read, and what it is measured against.
//
// Threads: none but those of print_bound().

#pragma once

#include <filesystem>

namespace trireme::bench {

// So many files of 224 x 224 pixels and quality 90, in one class.
void make_pictures(const std::filesystem::path& folder, int count);

// What so many threads decode if they do nothing else: from memory, whole, and nothing after it.
void print_bound(const std::filesystem::path& folder, int threads, int epochs);

// The same work by another program, or why there is none.
void print_peer(const std::filesystem::path& folder, int threads, int batch, int epochs);

}  // namespace trireme::bench
