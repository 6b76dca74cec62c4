// The option --store, as all commands that start a job read it.

#pragma once

#include <string>

namespace trireme::cli {

inline constexpr const char* kStoreHelp = "keep the job's state in an etcd (default: in the job)";

// Where an etcd is; the job's own place in it is the launcher's to name. Returns what is wrong with
// the text, or "".
std::string set_store(std::string& store, const std::string& text);

}  // namespace trireme::cli
