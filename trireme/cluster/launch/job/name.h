// A job's name: what people type to watch or stop it, and the name of its folder.
//
// Threads: pure, but for the randomness of make_name.

#pragma once

#include <string>
#include <string_view>

namespace trireme::cluster::launch::job {

// Empty when `name` will do, else what is wrong with it: 1 to 40 letters, digits, '.', '_' and
// '-', the first of them a letter or digit.
std::string mistake_in_name(std::string_view name);

// Two short words, such as "brisk-heron". Not unique: the maker of the folder finds out, and
// asks again with a larger `attempt`, which from 20 on adds a number.
std::string make_name(int attempt);

}  // namespace trireme::cluster::launch::job
