#include "bench/data/pictures.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/random.h"
#include "trireme/data/jpeg/jpeg.h"

namespace trireme::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kSide = 224;

// Waves and noise: compresses about as well as a photograph.
data::image::Pixels make_picture(Random& random) {
  data::image::Pixels picture{.channels = 3, .height = kSide, .width = kSide, .bytes = {}};
  const double slant = random.uniform_double(), wave = 0.02 + 0.2 * random.uniform_double();
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) {
      for (int c = 0; c < 3; ++c) {
        const double value =
            128 + 80 * std::sin(wave * (x + slant * y) + c) + 24 * (random.uniform_double() - 0.5);
        picture.bytes.push_back(static_cast<std::uint8_t>(value));
      }
    }
  }
  return picture;
}

// Seconds until all files are decoded once.
double decode_all(const std::vector<std::string>& files, int threads) {
  std::atomic<std::size_t> next = 0;
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        data::image::Pixels pixels;
        for (std::size_t file = next++; file < files.size(); file = next++) {
          data::jpeg::decode(bytes_of(files[file]), kSide, kSide, false, pixels);
        }
      });
    }
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void make_pictures(const fs::path& folder, int count) {
  Random random(1);
  std::size_t bytes = 0;
  fs::create_directories(folder / "any");
  for (int i = 0; i < count; ++i) {
    const Bytes file = data::jpeg::encode(make_picture(random), 90);
    bytes += file.size();
    write_file_atomically(folder / "any" / (std::to_string(i) + ".jpg"), file);
  }
  std::printf("%d JPEG files of %.1f kB\n", count, static_cast<double>(bytes) / 1e3 / count);
}

void print_bound(const fs::path& folder, int threads, int epochs) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder / "any")) {
    files.push_back(read_file(entry.path(), std::size_t{1} << 28));
  }
  double best = 0;
  for (int i = 0; i < epochs; ++i) {
    best = std::max(best, static_cast<double>(files.size()) / decode_all(files, threads));
  }
  std::printf("bound: %.0f images/s, decoding alone\n", best);
}

void print_peer(const fs::path& folder, int threads, int batch, int epochs) {
  const fs::path program =
      fs::read_symlink("/proc/self/exe").parent_path() / "bench/peers/load_jpeg";
  std::fflush(stdout);
  std::string answer;
  if (fs::exists(program)) {
    const std::string words = "'" + program.string() + "' '" + folder.string() + "' " +
                              std::to_string(threads) + " " + std::to_string(batch) + " " +
                              std::to_string(epochs) + " 2>/dev/null";
    std::FILE* const pipe = ::popen(words.c_str(), "r");
    if (pipe == nullptr) throw Error(ErrorCode::Io, "the peer did not start");
    std::array<char, 256> line{};
    if (std::fgets(line.data(), line.size(), pipe) != nullptr) answer = line.data();
    if (::pclose(pipe) != 0) answer.clear();
  }
  if (answer.empty()) {
    std::printf("peer: none; neither torchvision nor Pillow works in the Python of this torch\n");
  } else {
    answer.erase(answer.find_last_not_of('\n') + 1);
    std::printf("peer: %s images/s\n", answer.c_str());
  }
}

}  // namespace trireme::bench
