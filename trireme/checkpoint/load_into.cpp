#include "trireme/checkpoint/load_into.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "trireme/base/error.h"

namespace trireme::checkpoint {
namespace {

struct Match {
  std::string file_name;
  std::string our_name;
  bool is_transposed = false;
};

// Maps each tensor of the file to its name in the module.
std::vector<Match> matches_of(const TensorReader& source, const LoadOptions& options) {
  std::map<std::string, const Rename*> renames;
  for (const Rename& rename : options.renames) renames[rename.file_name] = &rename;
  std::vector<Match> matches;
  for (const std::string& name : source.names) {
    if (!name.starts_with(options.prefix)) continue;
    const std::string bare = name.substr(options.prefix.size());
    const auto rename = renames.find(bare);
    if (rename == renames.end()) {
      matches.push_back({.file_name = name, .our_name = bare});
    } else {
      matches.push_back({.file_name = name,
                         .our_name = rename->second->our_name,
                         .is_transposed = rename->second->is_transposed});
    }
  }
  return matches;
}

std::string sizes_text(const at::Tensor& tensor) {
  std::ostringstream out;
  out << tensor.sizes();
  return out.str();
}

void list(std::ostringstream& out, const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  out << what << ":";
  for (const std::string& name : names) out << " " << name << (&name == &names.back() ? "" : ",");
  out << "\n";
}

}  // namespace

std::string LoadReport::text() const {
  std::ostringstream out;
  list(out, "missing in the file", missing);
  list(out, "unknown to the model", unexpected);
  list(out, "of other sizes", mismatched);
  return out.str();
}

NamedTensors tensors_of(const torch::nn::Module& module) {
  NamedTensors tensors;
  for (const auto& item : module.named_parameters()) tensors.emplace_back(item.key(), item.value());
  for (const auto& item : module.named_buffers()) tensors.emplace_back(item.key(), item.value());
  return tensors;
}

LoadReport load_into(torch::nn::Module& module, const TensorReader& source,
                     const LoadOptions& options) {
  const at::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> wanted;
  for (auto& [name, tensor] : tensors_of(module)) wanted[name] = tensor;
  const auto is_fresh = [&](const std::string& name) {
    return options.is_fresh && options.is_fresh(name);
  };
  LoadReport report;
  // Compares everything before it changes anything.
  std::vector<std::pair<at::Tensor, at::Tensor>> copies;
  for (const Match& match : matches_of(source, options)) {
    if (is_fresh(match.our_name)) continue;
    const auto target = wanted.find(match.our_name);
    if (target == wanted.end()) {
      if (!options.is_rest_ignored) report.unexpected.push_back(match.our_name);
      continue;
    }
    at::Tensor value = source.read(match.file_name);
    if (match.is_transposed && value.dim() == 2) value = value.t();
    if (value.sizes() != target->second.sizes()) {
      report.mismatched.push_back(match.our_name + " " + sizes_text(value) + " in the file, " +
                                  sizes_text(target->second) + " in the model");
    } else {
      copies.emplace_back(target->second, value);
      report.loaded.push_back(match.our_name);
    }
    wanted.erase(target);
  }
  for (const auto& [name, tensor] : wanted) {
    if (is_fresh(name) || (options.is_optional && options.is_optional(name))) continue;
    const auto is_same = [&](const auto& copy) { return copy.first.is_same(tensor); };
    if (std::ranges::none_of(copies, is_same)) report.missing.push_back(name);
  }
  if (options.is_strict && !report.is_complete()) {
    throw Error(ErrorCode::Mismatch, source.label + " does not fit the model\n" + report.text());
  }
  for (auto& [target, value] : copies) target.copy_(value);
  return report;
}

}  // namespace trireme::checkpoint
