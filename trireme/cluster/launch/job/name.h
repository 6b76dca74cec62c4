// A job's name: users type it to watch or stop the job, and it is the name of the job's folder.
//
// Thread safety: pure, except for the randomness of make_name.

#pragma once

#include <string>
#include <string_view>

namespace trireme::cluster::launch::job {

// Empty if `name` is valid, else what is wrong with it: 1 to 40 letters, digits, '.', '_' and '-',
// starting with a letter or digit.
std::string mistake_in_name(std::string_view name);

// Two short words, such as "brisk-heron". Not unique: if the folder exists already, the caller
// tries again with a larger `attempt`, which from 20 on adds a number.
std::string make_name(int attempt);

}  // namespace trireme::cluster::launch::job
