#include "trireme/checkpoint/format/reshard.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/entropy.h"
#include "trireme/checkpoint/format/record.h"
#include "trireme/checkpoint/format/shelf.h"

namespace trireme::checkpoint::format {
namespace fs = std::filesystem;
namespace {

// Concatenates the tensors, cuts them into `count` ranges of equal size in bytes, and returns range
// `index`.
std::vector<PieceForm> stretch_of(const Manifest& manifest, std::uint64_t index,
                                  std::uint64_t count) {
  const std::uint64_t total = manifest.data_size();
  const auto cut = [&](std::uint64_t k) { return total / count * k + total % count * k / count; };
  std::vector<PieceForm> forms;
  std::uint64_t at = 0;
  for (const StoredTensor& tensor : manifest.tensors) {
    const std::uint64_t element = size_of(tensor.dtype);
    const auto place = [&](std::uint64_t bytes) {
      const std::uint64_t inside = bytes > at ? (bytes - at) / element : 0;
      return std::min(static_cast<std::int64_t>(inside), tensor.count());
    };
    const std::int64_t begin = index == 0 ? 0 : place(cut(index));
    const std::int64_t end = index == count - 1 ? tensor.count() : place(cut(index + 1));
    at += tensor.size();
    if (begin >= end && !(tensor.count() == 0 && index == 0)) continue;
    forms.push_back({.name = tensor.name,
                     .dtype = tensor.dtype,
                     .shard = tensor.sizes(),
                     .begin = begin,
                     .count = end - begin});
  }
  return forms;
}

WrittenPart write_stretch(const Reader& from, const fs::path& path, std::vector<PieceForm> forms,
                          const PartOptions& options) {
  const PartLayout layout(std::move(forms));
  Bytes data(layout.data_size());
  std::vector<ByteView> contents;
  for (std::size_t i = 0; i < layout.pieces().size(); ++i) {
    const PieceForm& form = layout.pieces()[i];
    std::byte* place = data.data() + layout.offset(i);
    from.read(from.tensor(form.name), form.begin, form.count, place);
    contents.emplace_back(place, form.size());
  }
  return write_part(path, layout, contents, options);
}

}  // namespace

fs::path reshard(const Reader& from, const ReshardOptions& options) {
  TRIREME_CHECK(options.parts > 0, "a checkpoint of ", options.parts, " parts");
  options.sealing.expect_possible();
  Shelf shelf({.folder = options.folder,
               .retention = {.keep_last = 0, .keep_best = 0},
               .key = options.sealing.key});
  const Manifest& old = from.manifest();
  Manifest manifest{.step = old.step,
                    .score = old.score,
                    .meta = old.meta,
                    .id = "reshard-" + secure_random_hex(8)};
  const fs::path draft = make_draft(options.folder, old.step, manifest.id);
  try {
    for (int part = 0; part < options.parts; ++part) {
      add_part(manifest,
               write_stretch(from, draft / part_name(part, options.sealing.is_plain()),
                             stretch_of(old, static_cast<std::uint64_t>(part),
                                        static_cast<std::uint64_t>(options.parts)),
                             {.sealing = options.sealing, .id = manifest.id, .rank = part}));
    }
    settle(manifest);
    shelf.put(draft, manifest);
  } catch (...) {
    std::error_code ignored;  // the next writer sweeps the draft
    fs::remove_all(draft, ignored);
    throw;
  }
  return options.folder / folder_name(old.step);
}

}  // namespace trireme::checkpoint::format
