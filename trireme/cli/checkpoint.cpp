#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/reader.h"
#include "trireme/checkpoint/format/verify.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/train/answer.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
namespace format = checkpoint::format;
using Json = nlohmann::ordered_json;

struct Options {
  std::string what, path;
  std::vector<std::string> more;
  std::string step, worker;
  bool is_json = false;
};

std::string size_text(std::uint64_t bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1000 && unit < 4; ++unit) value /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "(" + text + ")";
}

// PATH is one checkpoint, a folder of them, or a job's output folder that has `checkpoints/`.
std::vector<fs::path> checkpoints_at(const fs::path& path) {
  if (!fs::is_directory(path)) {
    throw Error(ErrorCode::InvalidInput, path.string() + " is no folder");
  }
  if (fs::exists(path / format::kManifestName)) return {path};
  if (format::step_in(fs::canonical(path).filename().string())) return {path};
  std::vector<fs::path> found;
  for (const fs::path& folder : {path, path / "checkpoints"}) {
    for (const format::Listed& listed : format::list_checkpoints(folder)) {
      found.push_back(listed.path);
    }
  }
  if (found.empty()) throw Error(ErrorCode::InvalidInput, path.string() + " has no checkpoints");
  return found;
}

// Lists by manifest and size alone: it stays quick where the checkpoints are large.
int list(const Options& options) {
  Json lines = Json::array();
  if (!options.is_json) {
    std::printf("%10s %12s %8s %10s  %s\n", "STEP", "SCORE", "TENSORS", "SIZE", "FOLDER");
  }
  for (const fs::path& path : checkpoints_at(options.path)) {
    Json line{{"path", path.string()}};
    try {
      const format::Manifest manifest = format::Reader(path).manifest();
      line["step"] = manifest.step;
      line["score"] = manifest.score ? Json(*manifest.score) : Json();
      line["tensors"] = manifest.tensors.size();
      line["bytes"] = manifest.data_size();
      char score[32] = "-";
      if (manifest.score) std::snprintf(score, sizeof score, "%.6g", *manifest.score);
      if (!options.is_json) {
        std::printf("%10lld %12s %8zu %10s  %s\n", static_cast<long long>(manifest.step), score,
                    manifest.tensors.size(), size_text(manifest.data_size()).c_str(), path.c_str());
      }
    } catch (const Error& error) {
      line["damage"] = error.message();
      if (!options.is_json) std::printf("%10s  %s\n", "damaged", error.message().c_str());
    }
    lines.push_back(std::move(line));
  }
  if (options.is_json) std::puts(lines.dump(2).c_str());
  return 0;
}

int inspect(const Options& options) {
  const format::Reader reader(checkpoints_at(options.path).back());
  const format::Manifest& manifest = reader.manifest();
  Json tensors = Json::array();
  for (const format::StoredTensor& tensor : manifest.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"dtype", format::name_of(tensor.dtype)},
                       {"sizes", tensor.sizes},
                       {"pieces", tensor.pieces.size()},
                       {"bytes", tensor.size()}});
  }
  if (options.is_json) {
    std::puts(Json{{"path", reader.folder().string()},
                   {"step", manifest.step},
                   {"score", manifest.score ? Json(*manifest.score) : Json()},
                   {"bytes", manifest.data_size()},
                   {"meta", Json::parse(manifest.meta)},
                   {"tensors", tensors}}
                  .dump(2)
                  .c_str());
    return 0;
  }
  std::printf("%s: step %lld, %zu tensors, %s\n", reader.folder().c_str(),
              static_cast<long long>(manifest.step), manifest.tensors.size(),
              size_text(manifest.data_size()).c_str());
  std::printf("meta %s\n\n%-8s %-20s %6s  %s\n", manifest.meta.c_str(), "TYPE", "SIZES", "PIECES",
              "NAME");
  for (const format::StoredTensor& tensor : manifest.tensors) {
    std::printf("%-8s %-20s %6zu  %s\n", std::string(format::name_of(tensor.dtype)).c_str(),
                sizes_text(tensor.sizes).c_str(), tensor.pieces.size(), tensor.name.c_str());
  }
  return 0;
}

int verify(const Options& options) {
  Json lines = Json::array();
  bool is_whole = true;
  for (const fs::path& path : checkpoints_at(options.path)) {
    const std::vector<std::string> damage = format::damage_in(path);
    is_whole &= damage.empty();
    lines.push_back({{"path", path.string()}, {"is_whole", damage.empty()}, {"damage", damage}});
    if (options.is_json) continue;
    std::printf("%-8s %s\n", damage.empty() ? "whole" : "DAMAGED", path.c_str());
    for (const std::string& one : damage) std::printf("         %s\n", one.c_str());
  }
  if (options.is_json) std::puts(lines.dump(2).c_str());
  return is_whole ? 0 : 1;
}

// Which name a weight is published under is known to the worker that has the model.
[[noreturn]] void export_weights(const Options& options) {
  AnswerWords words;
  words.verb = "export";
  words.output = options.path;
  words.worker = options.worker;
  words.options = {"--file", options.more.front()};
  if (!options.step.empty()) {
    words.options.insert(words.options.end(), {"--checkpoint", options.step});
  }
  words.overrides.assign(options.more.begin() + 1, options.more.end());
  become_worker(words);
}

int act(const Options& options) {
  const bool is_export = options.what == "export";
  if (is_export && options.more.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "FILE is missing: trireme checkpoint export runs/gpt weights.safetensors");
  }
  if (!is_export && !(options.more.empty() && options.step.empty() && options.worker.empty())) {
    throw Error(ErrorCode::InvalidInput, "FILE, --checkpoint and --worker are for export alone");
  }
  if (is_export) export_weights(options);
  if (options.what == "ls") return list(options);
  return options.what == "inspect" ? inspect(options) : verify(options);
}

}  // namespace

Command checkpoint_command() {
  Command command("checkpoint", "List, look into, verify and export checkpoints",
                  "trireme checkpoint verify runs/mnist");
  const auto options = std::make_shared<Options>();
  command.argument(
      "WHAT", "ls, inspect (the newest, or the one named), verify (read all) or export",
      [options](const std::string& text) {
        options->what = text;
        const bool is_known =
            text == "ls" || text == "inspect" || text == "verify" || text == "export";
        return is_known ? std::string() : "'" + text + "' is none of ls, inspect, verify, export";
      });
  command.argument("PATH", "a checkpoint, a folder of them or a job's output folder",
                   set_text(options->path));
  command.words("FILE", "export: the .safetensors file to write, then settings key=value",
                [options](const std::vector<std::string>& all) {
                  options->more = all;
                  return std::string();
                });
  command.flag("--json", "as JSON", options->is_json);
  command.option("--checkpoint", "STEP", "export: which one (default: the newest whole one)",
                 set_text(options->step));
  command.option("--worker", "PROGRAM", "export: a program with models of your own",
                 set_text(options->worker));
  command.action([options] { return act(*options); });
  return command;
}

}  // namespace trireme::cli
