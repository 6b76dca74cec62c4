// trireme-bench-data: measures how many images per second a loader delivers.
//
//   build/trireme-bench-data [--threads 2] [--epochs 5] [--batch 64] [--ahead 4] [--jpeg 0]
//                            [--peer 1]
//
// Generates 60,000 images of 28 x 28 bytes, which are shuffled in each epoch, padded by 2, cropped,
// flipped and normalized. With --jpeg N, generates N JPEG files of 224 x 224 pixels and quality 90
// in a folder, which are decoded, padded by 16, cropped and flipped. This is compared with the rate
// at which the threads decode without any other work, and with torchvision or Pillow doing the same
// work, unless --peer 0. Checks that every epoch contains each sample exactly once. Prints a line
// per epoch, then the best epoch and its bar. Exits with 1 if a result was wrong or the bar was
// missed.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "bench/data/pictures.h"
#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/random.h"
#include "trireme/data/idx/idx_source.h"
#include "trireme/data/image/folder_source.h"
#include "trireme/data/loader.h"
#include "trireme/data/transform/transformed_source.h"

namespace trireme::bench {
namespace {

constexpr int kImages = 60000;
constexpr int kPixels = 28 * 28;
// Images per second, on two cores.
constexpr double kBar = 50000;
constexpr double kJpegBar = 2000;

struct Options {
  int threads = 2;
  int epochs = 5;
  int batch = 64;
  int ahead = 4;
  int jpeg = 0;
  int peer = 1;
};

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

std::shared_ptr<const data::Source> open_pictures(const std::filesystem::path& folder) {
  return std::make_shared<Numbered>(data::transform::transformed(
      std::make_shared<data::image::FolderSource>(folder, data::image::FolderConfig{}),
      {.pad_crop = 16, .is_flipped = true}, data::transform::Use::Training));
}

// Images per second; 0 if the epoch did not contain every image exactly once.
double run_epoch(data::Loader& loader, const Options& options, std::vector<int>& times) {
  const double waited = loader.seconds_waited();
  const std::int64_t epoch = loader.position().epoch;
  times.assign(static_cast<std::size_t>(loader.source().count()), 0);
  const auto begin = std::chrono::steady_clock::now();
  while (loader.position().epoch == epoch) {
    for (const data::Batch& batch : loader.next().batches) {
      const auto* const samples = batch.target.const_data_ptr<std::int64_t>();
      for (std::int64_t i = 0; i < batch.count(); ++i)
        ++times[static_cast<std::size_t>(samples[i])];
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  bool is_right = true;
  for (int count : times) is_right &= count == 1;
  std::printf("epoch %2lld  %d threads  %9.0f images/s  waited %3.0f %%  %s\n",
              static_cast<long long>(epoch), options.threads,
              static_cast<double>(times.size()) / seconds.count(),
              100 * (loader.seconds_waited() - waited) / seconds.count(),
              is_right ? "each sample once" : "WRONG");
  return is_right ? static_cast<double>(times.size()) / seconds.count() : 0;
}

Options parse(int count, char** words) {
  Options options;
  for (int i = 1; i < count; i += 2) {
    int* number = nullptr;
    if (std::strcmp(words[i], "--threads") == 0) number = &options.threads;
    if (std::strcmp(words[i], "--epochs") == 0) number = &options.epochs;
    if (std::strcmp(words[i], "--batch") == 0) number = &options.batch;
    if (std::strcmp(words[i], "--ahead") == 0) number = &options.ahead;
    if (std::strcmp(words[i], "--jpeg") == 0) number = &options.jpeg;
    if (std::strcmp(words[i], "--peer") == 0) number = &options.peer;
    if (number == nullptr || i + 1 == count) {
      throw Error(ErrorCode::InvalidInput,
                  "options: --threads N --epochs N --batch N --ahead N --jpeg N --peer 0|1");
    }
    *number = std::atoi(words[i + 1]);
  }
  return options;
}

int run(const Options& options) {
  const TemporaryFolder folder("bench-data");
  const bool is_jpeg = options.jpeg > 0;
  if (is_jpeg) make_pictures(folder.path(), options.jpeg);
  data::Loader loader({.source = is_jpeg ? open_pictures(folder.path()) : make_images(),
                       .seed = 1,
                       .batch = options.batch,
                       .threads = options.threads,
                       .ahead = options.ahead});
  std::vector<int> times;
  double best = 0;
  for (int i = 0; i < options.epochs; ++i) {
    const double speed = run_epoch(loader, options, times);
    if (speed == 0) return 1;
    best = std::max(best, speed);
  }
  if (is_jpeg) {
    print_bound(folder.path(), options.threads, options.epochs);
    if (options.peer != 0)
      print_peer(folder.path(), options.threads, options.batch, options.epochs);
  }
  const double bar = is_jpeg ? kJpegBar : kBar;
  std::printf("best of %d epochs: %.0f images/s, bar %.0f: %s\n", options.epochs, best, bar,
              best >= bar ? "met" : "MISSED");
  return best >= bar ? 0 : 1;
}

}  // namespace
}  // namespace trireme::bench

int main(int count, char** words) {
  try {
    return trireme::bench::run(trireme::bench::parse(count, words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trireme-bench-data: %s\n", error.what());
    return 2;
  }
}
