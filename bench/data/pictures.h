// JPEG files for the loader benchmark, and the bound and the peer that it is compared with.
//
// Thread safety: one thread; print_bound() starts its own threads.

#pragma once

#include <filesystem>

namespace trireme::bench {

// Creates `count` files of 224 x 224 pixels and quality 90, all of one class.
void make_pictures(const std::filesystem::path& folder, int count);

// Prints the rate at which this many threads decode whole files from memory, without any other
// work.
void print_bound(const std::filesystem::path& folder, int threads, int epochs);

// Prints the rate of another program with the same work, or why it cannot run.
void print_peer(const std::filesystem::path& folder, int threads, int batch, int epochs);

}  // namespace trireme::bench
