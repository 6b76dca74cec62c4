// Finds the program that a job is to run, before anything is started, as a shell would.
//
// Failure: InvalidInput that says what is wrong (no such file, a folder, not executable) and,
//          where one is close, the nearest name that there is.
// Threads: any; reads $PATH and the file system.

#pragma once

#include <filesystem>
#include <string>

namespace trireme::cluster::launch {

// A name with a slash is a path; any other is looked up in $PATH.
std::filesystem::path find_program(const std::string& name);

}  // namespace trireme::cluster::launch
