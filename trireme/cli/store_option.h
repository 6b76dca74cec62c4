// The option --store, shared by all commands that start a job.

#pragma once

#include <string>

namespace trireme::cli {

inline constexpr const char* kStoreHelp = "keep the job's state in an etcd (default: in the job)";

// Sets the address of an etcd; the launcher chooses the job's prefix in it. Returns what is wrong
// with the text, or "".
std::string set_store(std::string& store, const std::string& text);

}  // namespace trireme::cli
