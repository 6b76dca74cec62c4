// Finds the program that a job runs, like a shell does, before anything is started.
//
// Errors:        InvalidInput with the reason (no such file, a folder, not executable) and, if one
//                is similar, the closest existing name.
// Thread safety: any thread; reads $PATH and the file system.

#pragma once

#include <filesystem>
#include <string>

namespace trireme::cluster::launch {

// A name with a slash is a path; any other name is looked up in $PATH.
std::filesystem::path find_program(const std::string& name);

}  // namespace trireme::cluster::launch
