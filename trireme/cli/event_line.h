// event_line() formats any event of a job as one line for people, as `trireme watch` prints it.
//
//   {"time":1763443384.5,"from":"launcher","event":"rank started","rank":1,"pid":4711}
//   05:23:04 rank started: rank 1, pid 4711
//
// Errors:        a line that is not a JSON object is returned unchanged.
// Thread safety: pure, except that it uses the time zone of the process.

#pragma once

#include <string>
#include <string_view>

namespace trireme::cli {

std::string event_line(std::string_view json);

}  // namespace trireme::cli
