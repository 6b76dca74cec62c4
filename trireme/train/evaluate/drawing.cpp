#include "trireme/train/evaluate/drawing.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "trireme/base/bytes.h"
#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/text/json_text.h"
#include "trireme/data/idx/idx_set.h"
#include "trireme/data/png/png.h"

namespace trireme::train {
namespace {

namespace fs = std::filesystem;

// Images per batch. It is limited because the activations of a generator are larger than its
// images.
constexpr std::int64_t kAtOnce = 512;

const data::transform::TransformConfig& changes_of(const TrainedModel& trained) {
  return trained.config.get<data::transform::TransformConfig>("data");
}

std::int64_t class_called(const std::string& text, const ClassSampler& sampler) {
  const std::vector<std::string>& names = sampler.class_names;
  const auto named = std::find(names.begin(), names.end(), text);
  if (named != names.end()) return named - names.begin();
  std::int64_t number = -1;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  const bool is_whole = read.ec == std::errc() && read.ptr == end;
  if (is_whole && number >= 0 && number < sampler.classes) return number;
  throw Error(ErrorCode::InvalidInput, "--only " + text + ": no such class; there are " +
                                           std::to_string(sampler.classes) +
                                           ", by name or numbered from 0");
}

std::vector<std::int64_t> wanted_classes(const WorkerWords& words, const ClassSampler& sampler) {
  std::vector<std::int64_t> all;
  if (!words.has("--only")) {
    for (std::int64_t i = 0; i < sampler.classes; ++i) all.push_back(i);
  }
  for (const std::string& name : words.list("--only")) all.push_back(class_called(name, sampler));
  return all;
}

at::Tensor draw(const TrainedModel& trained, const ClassSampler& sampler, const at::Tensor& labels,
                std::uint64_t seed) {
  std::vector<at::Tensor> all;
  for (std::int64_t begin = 0; begin < labels.numel(); begin += kAtOnce) {
    const std::int64_t count = std::min(kAtOnce, labels.numel() - begin);
    // Each batch has its own seed; the first one has the seed that the user gave.
    const std::uint64_t lot = seed + static_cast<std::uint64_t>(begin) * 0x9E3779B97F4A7C15;
    const at::Tensor samples = sampler.sample(labels.narrow(0, begin, count), lot);
    if (samples.dim() != 4 || (samples.size(1) != 1 && samples.size(1) != 3)) {
      throw Error(ErrorCode::InvalidInput,
                  "the samples of this model are not images with one or three channels");
    }
    all.push_back(to_pixels(samples, changes_of(trained)));
  }
  return at::cat(all);
}

void write_idx(const fs::path& folder, const TrainedModel& trained, const at::Tensor& pixels,
               const at::Tensor& labels) {
  if (changes_of(trained).is_standardized || trained.config.kind("data") == "audio") {
    throw Error(ErrorCode::InvalidInput,
                "--to requires images whose scale is known; train the model without "
                "data.standardize");
  }
  const at::Tensor bytes = (pixels * 255).round().to(at::kByte).permute({0, 2, 3, 1}).contiguous();
  const at::Tensor classes = labels.to(at::kByte);
  const std::uint8_t* const pixel = bytes.const_data_ptr<std::uint8_t>();
  const std::uint8_t* const label = classes.const_data_ptr<std::uint8_t>();
  data::idx::write_pictures(folder, {.sizes = bytes.sizes().vec(),
                                     .pixels = {pixel, pixel + bytes.numel()},
                                     .labels = {label, label + classes.numel()}});
}

// Writes the classes of the rows of samples.png, for `trireme plot`.
void save_legend(const TrainedModel& trained, const std::vector<std::int64_t>& classes,
                 const std::vector<std::string>& names) {
  std::vector<std::string> rows;
  for (const std::int64_t label : classes) {
    const auto index = static_cast<std::size_t>(label);
    rows.push_back(index < names.size() ? names[index] : std::to_string(label));
  }
  const nlohmann::json all{{"step", trained.step}, {"classes", rows}};
  write_file_atomically(trained.folder / "samples.json", json_text(all) + "\n");
}

}  // namespace

data::image::Pixels picture_grid(const at::Tensor& pictures, std::int64_t columns) {
  TRIREME_CHECK(pictures.dim() == 4 && columns > 0,
                "a grid requires images (N, C, H, W) and at least one column");
  const std::int64_t channels = pictures.size(1);
  TRIREME_CHECK(channels == 1 || channels == 3, "images with ", channels,
                " channels are not supported");
  const std::int64_t height = pictures.size(2), width = pictures.size(3);
  const std::int64_t rows = (pictures.size(0) + columns - 1) / columns;
  at::Tensor grid =
      at::zeros({rows * (height + 1) + 1, columns * (width + 1) + 1, channels}, at::kByte);
  const at::Tensor bytes =
      ((pictures.clamp(-1, 1) + 1) * 127.5F).round().to(at::kByte).permute({0, 2, 3, 1});
  for (std::int64_t i = 0; i < pictures.size(0); ++i) {
    grid.narrow(0, i / columns * (height + 1) + 1, height)
        .narrow(1, i % columns * (width + 1) + 1, width)
        .copy_(bytes[i]);
  }
  const std::uint8_t* const first = grid.const_data_ptr<std::uint8_t>();
  return {.channels = channels,
          .height = grid.size(0),
          .width = grid.size(1),
          .bytes = {first, first + grid.numel()}};
}

at::Tensor to_pixels(const at::Tensor& samples, const data::transform::TransformConfig& changes) {
  at::Tensor out = samples.to(at::kFloat);
  if (!changes.mean.empty()) {
    const auto by_channel = [&](const std::vector<float>& all) {
      return at::tensor(all).view({1, -1, 1, 1});
    };
    out = out * by_channel(changes.deviation) + by_channel(changes.mean);
  }
  if (changes.is_standardized) {
    const at::Tensor least = out.amin({1, 2, 3}, true), most = out.amax({1, 2, 3}, true);
    out = (out - least) / (most - least).clamp_min(1e-12);
  }
  return out.clamp(0, 1);
}

int answer_draw(const WorkerWords& words, const TrainedModel& trained,
                const ClassSampler& sampler) {
  const std::int64_t columns = words.integer("--count", 8, 1);
  const std::vector<std::int64_t> classes = wanted_classes(words, sampler);
  if (words.has("--to") && sampler.classes > 256) {
    throw Error(ErrorCode::InvalidInput,
                "--to writes IDX files, which support at most 256 classes");
  }
  const at::Tensor labels = at::tensor(classes, at::kLong).repeat_interleave(columns);
  const at::Tensor pixels =
      draw(trained, sampler, labels, static_cast<std::uint64_t>(words.integer("--seed", 1)));
  fs::path path = trained.folder / "samples.png";
  if (words.has("--to")) {
    path = words.text("--to");
    write_idx(path, trained, pixels, labels);
  } else {
    save_legend(trained, classes, sampler.class_names);
    write_file_atomically(path, text_of(data::png::encode(picture_grid(pixels * 2 - 1, columns))));
  }
  std::printf("%s: %" PRId64 " of each of %zu classes, of step %" PRId64 "\n", path.c_str(),
              columns, classes.size(), trained.step);
  return 0;
}

}  // namespace trireme::train
