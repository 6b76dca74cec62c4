// A rank that allocates and uses memory until it is stopped or has a gigabyte.

#include <cstring>
#include <vector>

int main() {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<std::vector<char>> pieces;
  for (int i = 0; i < 1024; ++i) {
    pieces.emplace_back(kPiece);
    std::memset(pieces.back().data(), i, kPiece);
  }
  return 0;
}
