#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "bench/commands.h"
#include "bench/statistics.h"
#include "trireme/base/random.h"
#include "trireme/base/text/quantity.h"
#include "trireme/cli/json_file.h"
#include "trireme/cli/setters.h"
#include "trireme/codec/kinds.h"

namespace trireme::bench {
namespace {

struct CodecOptions {
  std::string json;
  std::uint64_t size = 64 << 20;   // bytes of gradients
  std::uint64_t bucket = 4 << 20;  // bytes encoded per call
  double seconds = 0.5;            // per figure
};

constexpr double kBar = 6e9;  // bytes per second, for int8 with error feedback

// The bound that memory bandwidth sets: encoding reads values and residuals and writes residuals
// and encoded bytes, while memcpy reads and writes values.
double encode_bound(double memcpy_rate, double share) {
  return memcpy_rate * 2 / (3 + share);
}

// Bytes per second of the fastest pass within the given time.
template <class Pass>
double best_rate(double seconds, std::size_t size, Pass&& pass) {
  double best = 0;
  const double begin = now();
  for (int time = 0; time < 3 || now() - begin < seconds; ++time) {
    const double start = now();
    pass();
    best = std::max(best, static_cast<double>(size) / (now() - start));
  }
  return best;
}

// Gradients in buckets, each of them one square matrix, and the buffers that a codec needs.
struct Workload {
  explicit Workload(const CodecOptions& options)
      : side(static_cast<std::size_t>(std::sqrt(static_cast<double>(options.bucket) / 4))),
        buckets(std::max<std::size_t>(options.size / (side * side * 4), 1)),
        values(buckets * count()),
        residual(values.size()),
        sum(values.size()) {
    Random random(1);
    for (float& value : values) value = random.uniform_float() * 0.02f - 0.01f;
  }
  std::size_t count() const { return side * side; }
  std::size_t size() const { return values.size() * sizeof(float); }
  std::span<float> of(std::vector<float>& all, std::size_t bucket) const {
    return std::span(all).subspan(bucket * count(), count());
  }

  std::size_t side;
  std::size_t buckets;
  std::vector<float> values, residual, sum;
};

struct Figures {
  double encoded = 0;  // bytes of float32 per second, with error feedback
  double decoded = 0;
  double share = 0;  // encoded bytes divided by float32 bytes
  bool is_right = false;
};

Figures measure_codec(const codec::Codec& codec, Workload& work, double seconds) {
  codec::BucketPart part{.count = work.count(), .rows = work.side, .columns = work.side};
  std::vector<float> kept(codec.kept_count(part));
  part.kept = kept;
  const std::span<const codec::BucketPart> parts(&part, 1);
  const std::size_t room = codec.size_max(work.count(), parts);
  std::vector<std::byte> coded(room * work.buckets);
  std::vector<std::size_t> sizes(work.buckets);
  std::uint64_t stream = 0;
  const auto encode = [&] {
    for (std::size_t b = 0; b < work.buckets; ++b) {
      sizes[b] = codec.encode_fed(work.of(work.values, b), work.of(work.residual, b), parts,
                                  {.seed = 1, .stream = ++stream},
                                  std::span(coded).subspan(b * room, room));
    }
  };
  const auto decode = [&] {
    for (std::size_t b = 0; b < work.buckets; ++b) {
      codec.add({coded.data() + b * room, sizes[b]}, parts, work.of(work.sum, b));
    }
  };
  Figures figures;
  // Checks once that the decoded values plus the residual equal the original values.
  std::fill(work.residual.begin(), work.residual.end(), 0.0f);
  std::fill(work.sum.begin(), work.sum.end(), 0.0f);
  encode();
  decode();
  float worst = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < work.values.size(); ++i) {
    worst = std::max(worst, std::fabs(work.sum[i] + work.residual[i] - work.values[i]));
  }
  for (const std::size_t size : sizes) bytes += size;
  figures.is_right = worst < 1e-6f;
  figures.share = static_cast<double>(bytes) / static_cast<double>(work.size());
  figures.encoded = best_rate(seconds, work.size(), encode);
  figures.decoded = best_rate(seconds, work.size(), decode);
  return figures;
}

int measure_codecs(const CodecOptions& options) {
  const cli::File json = cli::open_json(options.json);
  Workload work(options);
  const double bound = best_rate(options.seconds, work.size(), [&] {
    std::memcpy(work.sum.data(), work.values.data(), work.size());
  });
  fmt::print("{} MB of gradients in buckets of {:.1f} MB, one core; memcpy {:.1f} GB/s\n",
             work.size() / 1000000, static_cast<double>(work.count()) * 4e-6, bound * 1e-9);
  fmt::print("{:<10} {:>12} {:>12} {:>12} {:>10}\n", "codec", "encode GB/s", "bound GB/s",
             "decode GB/s", "bytes left");
  bool is_right = true;
  double int8 = 0;
  for (const codec::CodecKind kind : codec::kCodecKinds) {
    const std::string name(codec::name_of(kind));
    std::shared_ptr<const codec::Codec> codec;
    try {
      codec = codec::make_codec({.kind = kind});
    } catch (const Error& error) {
      fmt::print("{:<10} SKIPPED: {}\n", name, error.message());
      continue;
    }
    const Figures found = measure_codec(*codec, work, options.seconds);
    is_right &= found.is_right;
    const double most = encode_bound(bound, found.share);
    if (kind == codec::CodecKind::Int8) int8 = found.encoded;
    fmt::print("{:<10} {:>12.2f} {:>12.2f} {:>12.2f} {:>8.2f} %{}\n", name, found.encoded * 1e-9,
               most * 1e-9, found.decoded * 1e-9, found.share * 100,
               found.is_right ? "" : "  WRONG");
    cli::write_line(
        json,
        fmt::format("{{\"codec\": \"{}\", \"encode_bytes_per_second\": {:.0f}, "
                    "\"encode_bound_bytes_per_second\": {:.0f}, "
                    "\"decode_bytes_per_second\": {:.0f}, \"memcpy_bytes_per_second\": {:.0f}, "
                    "\"share\": {:.5f}, \"is_right\": {}}}",
                    name, found.encoded, most, found.decoded, bound, found.share, found.is_right));
  }
  fmt::print("int8: {:.2f} GB/s, {}: >= {:.0f} GB/s\n", int8 * 1e-9,
             int8 >= kBar ? "met" : "MISSED", kBar * 1e-9);
  return is_right ? 0 : 1;
}

}  // namespace

cli::Command codec_command() {
  cli::Command command("bench codec", "Measure how fast codecs encode gradients and decode them",
                       "trireme bench codec --size 64MiB");
  const auto options = std::make_shared<CodecOptions>();
  const auto size = [](std::string option, std::uint64_t& target) {
    return cli::checked(std::move(option), [&target](const std::string& text) {
      target = std::clamp<std::uint64_t>(parse_byte_size(text).count, 1024, 1ull << 34);
    });
  };
  command.option("--size", "SIZE", "size of all gradients (default: 64MiB)",
                 size("--size", options->size));
  command.option("--bucket", "SIZE", "size of a bucket (default: 4MiB)",
                 size("--bucket", options->bucket));
  command.option("--seconds", "N", "time for each measurement (default: 0.5)",
                 cli::number<double>("--seconds", {0, 60}, options->seconds));
  command.option("--json", "FILE", "also write one JSON object per codec there",
                 cli::set_text(options->json));
  command.action([options] { return measure_codecs(*options); });
  return command;
}

}  // namespace trireme::bench
