// trireme-bench-data [--jpeg N]: measures how many images per second a loader delivers.
//
// Generates 60,000 images of 28 x 28 bytes, which are shuffled in each epoch, padded by 2, cropped,
// flipped and normalized. With --jpeg N, generates N JPEG files of 224 x 224 pixels and quality 90
// in a folder, which are decoded, padded by 16, cropped and flipped. This is compared with the rate
// at which the threads decode without any other work, and with torchvision or Pillow doing the same
// work. Checks that every epoch contains each sample exactly once. Prints a line per epoch, then
// the best epoch and its bar. Exits with 1 if a result was wrong or the bar was missed.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bench/statistics.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/random.h"
#include "trireme/cli/program.h"
#include "trireme/data/idx/idx_source.h"
#include "trireme/data/image/folder_source.h"
#include "trireme/data/jpeg/jpeg.h"
#include "trireme/data/loader.h"
#include "trireme/data/transform/transformed_source.h"

namespace trireme::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kImages = 60000;
constexpr int kPixels = 28 * 28;
constexpr int kSide = 224;  // of a JPEG file
constexpr int kThreads = 2;
constexpr int kEpochs = 5;
constexpr int kBatch = 64;
constexpr int kAhead = 4;
// Images per second, on two cores.
constexpr double kBar = 50000;
constexpr double kJpegBar = 2000;

// Uses the index of a sample as its target, so that the benchmark can identify each sample.
class Numbered final : public data::Source {
 public:
  explicit Numbered(std::shared_ptr<const data::Source> source) : source_(std::move(source)) {}

  std::int64_t count() const override { return source_->count(); }
  const data::Form& form() const override { return source_->form(); }
  void read(std::int64_t sample, const data::SampleKey& key, void* input,
            void* target) const override {
    source_->read(sample, key, input, target);
    *static_cast<std::int64_t*>(target) = sample;
  }

 private:
  std::shared_ptr<const data::Source> source_;
};

std::string big_endian(int number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16),
          static_cast<char>(number >> 8), static_cast<char>(number)};
}

std::shared_ptr<const data::Source> make_images() {
  std::string images("\0\0\x08\x03", 4);
  images += big_endian(kImages) + big_endian(28) + big_endian(28);
  std::string labels = std::string("\0\0\x08\x01", 4) + big_endian(kImages);
  Random random(1);
  for (int i = 0; i < kImages * kPixels; ++i) images += static_cast<char>(random.bits32());
  for (int i = 0; i < kImages; ++i) labels += static_cast<char>(random.below(10));
  auto plain = std::make_shared<data::idx::IdxSource>(
      data::idx::IdxFile::parse(std::move(images), "images"),
      data::idx::IdxFile::parse(std::move(labels), "labels"));
  return std::make_shared<Numbered>(data::transform::transformed(
      plain, {.pad_crop = 2, .is_flipped = true, .mean = {0.2860F}, .deviation = {0.3530F}},
      data::transform::Use::Training));
}

std::shared_ptr<const data::Source> open_pictures(const fs::path& folder) {
  return std::make_shared<Numbered>(data::transform::transformed(
      std::make_shared<data::image::FolderSource>(folder, data::image::FolderConfig{}),
      {.pad_crop = 16, .is_flipped = true}, data::transform::Use::Training));
}

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

// Creates `count` files, all of one class.
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

// Prints the rate at which the threads decode whole files from memory, without any other work.
void print_bound(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder / "any")) {
    files.push_back(read_file(entry.path(), std::size_t{1} << 28));
  }
  double best = 0;
  for (int i = 0; i < kEpochs; ++i) {
    std::atomic<std::size_t> next = 0;
    const double begin = now();
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        data::image::Pixels pixels;
        for (std::size_t file = next++; file < files.size(); file = next++) {
          data::jpeg::decode(bytes_of(files[file]), kSide, kSide, false, pixels);
        }
      });
    }
    threads.clear();
    best = std::max(best, static_cast<double>(files.size()) / (now() - begin));
  }
  std::printf("bound: %.0f images/s, decoding alone\n", best);
}

// Prints the rate of torchvision or Pillow with the same work, or that neither can run.
void print_peer(const fs::path& folder) {
  const fs::path program = cli::beside("bench/peers/load_jpeg");
  std::string answer = "none; neither torchvision nor Pillow works in the Python of this torch";
  if (!program.empty()) {
    cli::run_program({{program.string(), folder.string(), std::to_string(kThreads),
                       std::to_string(kBatch), std::to_string(kEpochs)}},
                     Deadline::after(std::chrono::minutes(10)),
                     [&](std::string_view line) { answer = std::string(line) + " images/s"; });
  }
  std::printf("peer: %s\n", answer.c_str());
}

// Images per second; 0 if the epoch did not contain every image exactly once.
double run_epoch(data::Loader& loader) {
  const double waited = loader.seconds_waited();
  const std::int64_t epoch = loader.position().epoch;
  std::vector<int> times(static_cast<std::size_t>(loader.source().count()));
  const double begin = now();
  while (loader.position().epoch == epoch) {
    for (const data::Batch& batch : loader.next().batches) {
      const auto* const samples = batch.target.const_data_ptr<std::int64_t>();
      for (std::int64_t i = 0; i < batch.count(); ++i)
        ++times[static_cast<std::size_t>(samples[i])];
    }
  }
  const double seconds = now() - begin;
  const double speed = static_cast<double>(times.size()) / seconds;
  const bool is_right = std::ranges::all_of(times, [](int count) { return count == 1; });
  std::printf("epoch %2lld  %d threads  %9.0f images/s  waited %3.0f %%  %s\n",
              static_cast<long long>(epoch), kThreads, speed,
              100 * (loader.seconds_waited() - waited) / seconds,
              is_right ? "each sample once" : "WRONG");
  return is_right ? speed : 0;
}

// The best of several epochs; 0 if one was wrong.
double measure(std::shared_ptr<const data::Source> source) {
  data::Loader loader({.source = std::move(source),
                       .seed = 1,
                       .batch = kBatch,
                       .threads = kThreads,
                       .ahead = kAhead});
  double best = 0;
  for (int i = 0; i < kEpochs; ++i) {
    const double speed = run_epoch(loader);
    if (speed == 0) return 0;
    best = std::max(best, speed);
  }
  return best;
}

int run(int jpegs) {
  const TemporaryFolder folder("bench-data");
  if (jpegs > 0) make_pictures(folder.path(), jpegs);
  const double best = measure(jpegs > 0 ? open_pictures(folder.path()) : make_images());
  if (jpegs > 0) {
    print_bound(folder.path());
    print_peer(folder.path());
  }
  const double bar = jpegs > 0 ? kJpegBar : kBar;
  std::printf("best of %d epochs: %.0f images/s, bar %.0f: %s\n", kEpochs, best, bar,
              best >= bar ? "met" : "MISSED");
  return best >= bar ? 0 : 1;
}

}  // namespace
}  // namespace trireme::bench

int main(int count, char** words) {
  const int jpegs = count == 3 && std::string(words[1]) == "--jpeg" ? std::atoi(words[2]) : 0;
  if (count > 1 && jpegs <= 0) {
    std::fprintf(stderr, "usage: trireme-bench-data [--jpeg N]\n");
    return 2;
  }
  try {
    return trireme::bench::run(jpegs);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trireme-bench-data: %s\n", error.what());
    return 2;
  }
}
