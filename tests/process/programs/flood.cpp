// A rank that writes numbered lines: flood COUNT, or flood forever.

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "1";
  const long count = mode == "forever" ? -1 : std::atol(mode.c_str());
  const char* rank = std::getenv("TRIREME_RANK");
  for (long i = 0; i != count; ++i) {
    const std::string tail(static_cast<std::size_t>(i % 71), 'x');
    std::printf("line %ld of %s: %s\n", i, rank != nullptr ? rank : "?", tail.c_str());
  }
  return 0;
}
