// run_tests() is the main() of the test binaries: it runs GoogleTest, and where nobody watches
// (CI=true) runs those tests once more that failed by nothing but being late (in_time.h). A shared
// machine may stand still for a second; any other failure, a crash and a test that is late twice
// count the first time. Both runs are in the log, and a line between them says so.

#pragma once

namespace trireme::testing {

int run_tests(int argc, char** argv);

}  // namespace trireme::testing
