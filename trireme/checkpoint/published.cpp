#include "trireme/checkpoint/published.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>
#include <set>

#include "trireme/base/error.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/hugging_face_weights.h"

namespace trireme::checkpoint {
namespace {

namespace fs = std::filesystem;

bool has(const TensorReader& source, const std::string& name) {
  return std::binary_search(source.names.begin(), source.names.end(), name);
}

struct Opened {
  TensorReader source;
  bool is_ours = false;  // a checkpoint, which a key authenticates
};

// A checkpoint, a folder of checkpoints or the folder of a job, whatever else lies in it: a file
// that is not signed must never be read in place of a checkpoint.
bool is_of_a_job(const fs::path& path) {
  // A link may have the name of a checkpoint, and so may what it leads to.
  for (const fs::path& folder : {(path / "").parent_path(), fs::canonical(path)}) {
    if (format::step_in(folder.filename().string())) return true;
  }
  return fs::exists(path / "checkpoints") || fs::exists(path / format::kJobIdName) ||
         !format::list_checkpoints(path).empty();
}

void tell(const PublishedOptions& options, const std::string& note) {
  if (options.on_note && !note.empty()) options.on_note(note);
}

Opened open_checkpoint(const Checkpoint& checkpoint, const PublishedOptions& options) {
  tell(options, checkpoint.note_if_unsigned());
  return {.source = open_tensors(checkpoint), .is_ours = true};
}

Opened open_folder(const fs::path& path, const PublishedOptions& options) {
  if (fs::exists(path / format::kManifestName)) {
    return open_checkpoint(Checkpoint::open(path, options.reading), options);
  }
  for (const fs::path& folder : {path, path / "checkpoints"}) {
    const auto newest = Checkpoint::newest_whole(folder, options.reading);
    for (const std::string& note : newest.notes()) tell(options, note);
    if (newest.checkpoint) return open_checkpoint(*newest.checkpoint, options);
  }
  const bool has_weights = has_hugging_face_weights(path);
  if (has_weights && !is_of_a_job(path)) return {.source = open_hugging_face_weights(path)};
  throw Error(ErrorCode::NotFound,
              path.string() + (has_weights ? " holds no whole checkpoint. To load the weights of "
                                             "other programs that lie in it, name their file"
                                           : " holds neither a whole checkpoint nor "
                                             "model.safetensors"));
}

Opened open_sorted(const fs::path& path, const PublishedOptions& options) {
  Opened opened =
      fs::is_directory(path) ? open_folder(path, options) : Opened{.source = open_tensors(path)};
  if (options.reading.key && !opened.is_ours) {
    tell(options, path.string() +
                      " is no checkpoint and has no signature, though a key is given: "
                      "anybody could have written it");
  }
  std::ranges::sort(opened.source.names);
  return opened;
}

std::string renamed(const std::string& name, const std::vector<std::string>& renames) {
  for (const std::string& rename : renames) {
    const std::size_t equals = rename.find('=');
    const std::string theirs = rename.substr(0, equals);
    const std::string ours = rename.substr(equals + 1);
    if (name == theirs) return ours;
    if (theirs.ends_with('.') && name.starts_with(theirs)) {
      return ours + name.substr(theirs.size());
    }
  }
  return name;
}

TensorReader with_renames(const TensorReader& source, const std::vector<std::string>& renames) {
  if (renames.empty()) return source;
  std::map<std::string, std::string> theirs;
  for (const std::string& name : source.names) theirs[renamed(name, renames)] = name;
  TensorReader out{.label = source.label, .names = {}, .read = {}};
  for (const auto& [name, from] : theirs) out.names.push_back(name);
  out.read = [read = source.read, theirs](const auto& name) { return read(theirs.at(name)); };
  return out;
}

// The name of a parameter in the file: the published name, the published name without its first
// component, or our own name.
std::string name_in(const TensorReader& source, const std::string& published,
                    const std::string& ours) {
  if (has(source, published)) return published;
  const std::string first = published.substr(0, published.find('.') + 1);
  const auto is_below_first = [&](const std::string& name) { return name.starts_with(first); };
  if (!first.empty() && std::ranges::none_of(source.names, is_below_first)) {
    const std::string rest = published.substr(first.size());
    if (has(source, rest)) return rest;
  }
  return ours;
}

struct Wanted {
  Rename rename;
  at::Tensor tensor;
};

std::vector<Wanted> wanted_from(const TensorReader& source, const model::Model& model) {
  std::vector<Wanted> all;
  for (const auto& [name, tensor] : tensors_of(model)) {
    const model::Published published = model.published(name);
    all.push_back({.rename = {.file_name = name_in(source, published.name, name),
                              .our_name = name,
                              .is_transposed = published.is_transposed},
                   .tensor = tensor});
  }
  return all;
}

// Decides by the first matrix that is not square and matches one of the layouts; nullopt if there
// is none.
std::optional<bool> is_published_layout(const TensorReader& source,
                                        const std::vector<Wanted>& wanted) {
  for (const Wanted& one : wanted) {
    if (!one.rename.is_transposed || one.tensor.size(0) == one.tensor.size(1)) continue;
    if (!has(source, one.rename.file_name)) continue;
    const at::Tensor theirs = source.read(one.rename.file_name);
    if (theirs.sizes() == one.tensor.sizes()) return false;
    if (theirs.sizes() == one.tensor.t().sizes()) return true;
  }
  return std::nullopt;
}

// Entries that other programs save next to the weights: attention masks and rotary frequencies
// (older versions of `transformers`), and the batch counter of a batch norm (PyTorch).
bool is_no_weight(const std::string& name) {
  for (const char* end :
       {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq", ".num_batches_tracked"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

// Whether the output head is a copy of the token embedding. A head that differs is a weight that
// the model lacks.
bool is_tied_head(const TensorReader& source, const std::string& name) {
  if (name != "lm_head.weight") return false;
  for (const char* table : {"transformer.wte.weight", "wte.weight", "model.embed_tokens.weight"}) {
    if (has(source, table)) return source.read(table).equal(source.read(name));
  }
  return false;
}

}  // namespace

std::string complaint_of_renames(const std::vector<std::string>& renames) {
  for (const std::string& rename : renames) {
    const std::size_t equals = rename.find('=');
    const bool is_pair = equals != std::string::npos && equals > 0;
    const std::string ours = is_pair ? rename.substr(equals + 1) : "";
    const bool is_prefix = is_pair && rename[equals - 1] == '.';
    if (!is_pair ||
        (is_prefix ? !ours.empty() && !ours.ends_with('.') : ours.empty() || ours.ends_with('.'))) {
      return "'" + rename + "' is not \"theirs=ours\", with dots at the end of both or of neither";
    }
  }
  return {};
}

LoadReport load_published(model::Model& model, const fs::path& path,
                          const PublishedOptions& options) {
  const auto [opened, is_ours] = open_sorted(path, options);
  TensorReader source = with_renames(opened, options.renames);
  const std::vector<Wanted> wanted = wanted_from(source, model);
  const bool is_published = is_published_layout(source, wanted).value_or(!is_ours);
  LoadOptions load{.is_strict = options.is_strict,
                   .is_rest_ignored = is_ours,
                   .is_fresh = options.is_fresh,
                   .is_optional = options.is_optional};
  std::set<std::string> known;
  for (const Wanted& one : wanted) {
    known.insert(one.rename.file_name);
    load.renames.push_back(one.rename);
    load.renames.back().is_transposed = one.rename.is_transposed && is_published;
  }
  const TensorReader all = source;
  std::erase_if(source.names, [&](const std::string& name) {
    return !known.contains(name) && (is_no_weight(name) || is_tied_head(all, name));
  });
  return load_into(model, source, load);
}

NamedTensors published_tensors(const model::Model& model) {
  const at::NoGradGuard no_grad;
  NamedTensors all;
  std::set<const void*> seen;
  for (const auto& [name, tensor] : tensors_of(model)) {
    if (!seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    const model::Published published = model.published(name);
    const at::Tensor value = tensor.detach();
    all.emplace_back(published.name, published.is_transposed ? value.t().contiguous() : value);
  }
  return all;
}

}  // namespace trireme::checkpoint
