#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/checkpoint/format/reader.h"
#include "trireme/checkpoint/format/verify.h"
#include "trireme/cli/checkpoint/rewrite.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/train/answer.h"
#include "trireme/data/preprocessing_record.h"
#include "trireme/mesh/box.h"
#include "trireme/train/report/progress.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
namespace format = checkpoint::format;
using Json = nlohmann::ordered_json;

struct Options {
  std::string what, path;
  std::vector<std::string> more;
  std::string step, worker, key;
  ReshardWords reshard;
  bool is_json = false;
  bool is_forced = false;
  bool is_unauthenticated_allowed = false;

  format::ReadOptions reading() const {
    format::ReadOptions reading{.is_unauthenticated_allowed = is_unauthenticated_allowed};
    if (!key.empty()) reading.key = net::Secret::from_file(key);
    return reading;
  }
  bool has_export_words() const { return !step.empty() || !worker.empty() || is_forced; }
  bool has_key_words() const { return !key.empty() || is_unauthenticated_allowed; }
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

// PATH is one checkpoint, a folder of checkpoints, or a job's output folder with `checkpoints/`.
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

// Reads only manifests and file sizes, so that it stays fast for large checkpoints.
int list(const Options& options) {
  Json lines = Json::array();
  if (!options.is_json) {
    std::printf("%10s %12s %8s %10s  %s\n", "STEP", "SCORE", "TENSORS", "SIZE", "FOLDER");
  }
  const format::ReadOptions reading = options.reading();
  for (const fs::path& path : checkpoints_at(options.path)) {
    Json line{{"path", path.string()}};
    try {
      const format::Manifest manifest = format::Reader(path, reading).manifest();
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

// For people: replaces a tokenizer, which may be megabytes, by its size. --json prints all of it.
std::string brief_meta(const std::string& meta) {
  Json json = Json::parse(meta);
  const auto data = json.find("data");
  if (data == json.end() || !data->is_object() || !data->contains("tokenizer")) return meta;
  (*data)["tokenizer"] = std::to_string(data->at("tokenizer").dump().size()) + " bytes";
  return json.dump();
}

int inspect(const Options& options) {
  const format::Reader reader(checkpoints_at(options.path).back(), options.reading());
  warn_if_unsigned(reader);
  const format::Manifest& manifest = reader.manifest();
  Json tensors = Json::array();
  for (const format::StoredTensor& tensor : manifest.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"dtype", format::name_of(tensor.dtype)},
                       {"sizes", tensor.sizes()},
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
  std::printf("meta %s\n\n%-8s %-20s %6s  %s\n", brief_meta(manifest.meta).c_str(), "TYPE", "SIZES",
              "PIECES", "NAME");
  for (const format::StoredTensor& tensor : manifest.tensors) {
    std::printf("%-8s %-20s %6zu  %s\n", std::string(format::name_of(tensor.dtype)).c_str(),
                mesh::text_of(tensor.sizes()).c_str(), tensor.pieces.size(), tensor.name.c_str());
  }
  return 0;
}

// Programs may save a meta of their own; that of a training job is known here.
void check_meta(const std::string& meta, std::int64_t step) {
  const Json json = Json::parse(meta);
  if (!json.contains("job_hash") && !json.contains("recipe")) return;
  train::Progress::from_meta(meta, step);
  if (json.contains("data")) data::check_record(json.at("data").dump());
}

// A checkpoint that the key does not fit does not prevent the verification of the others.
std::vector<std::string> damage_or_refusal(const fs::path& path,
                                           const format::ReadOptions& reading) {
  try {
    return format::damage_in(path, reading, check_meta);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::InvalidInput) throw;
    return {error.message()};
  }
}

int verify(const Options& options) {
  Json lines = Json::array();
  bool is_whole = true;
  const format::ReadOptions reading = options.reading();
  for (const fs::path& path : checkpoints_at(options.path)) {
    const std::vector<std::string> damage = damage_or_refusal(path, reading);
    const bool is_authenticated =
        damage.empty() && format::Reader(path, reading).is_authenticated();
    is_whole &= damage.empty();
    lines.push_back({{"path", path.string()},
                     {"is_whole", damage.empty()},
                     {"is_authenticated", is_authenticated},
                     {"damage", damage}});
    if (options.is_json) continue;
    std::printf("%-8s %s%s\n", damage.empty() ? "whole" : "DAMAGED", path.c_str(),
                is_authenticated ? " (authenticated)" : "");
    for (const std::string& one : damage) std::printf("         %s\n", one.c_str());
  }
  if (options.is_json) std::puts(lines.dump(2).c_str());
  return is_whole ? 0 : 1;
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

// Only the worker that has the model knows the published names of its weights.
int export_weights(const Options& options) {
  if (options.more.empty()) {
    refuse("FILE is missing: trireme checkpoint export runs/gpt weights.safetensors");
  }
  AnswerWords words;
  words.verb = "export";
  words.output = options.path;
  words.worker = options.worker;
  words.options = {"--file", options.more.front()};
  if (!options.step.empty()) {
    words.options.insert(words.options.end(), {"--checkpoint", options.step});
  }
  if (options.is_forced) words.options.emplace_back("--force");
  words.overrides.assign(options.more.begin() + 1, options.more.end());
  become_worker(words);
}

int diff(const Options& options) {
  if (options.more.size() != 1) refuse("give two: trireme checkpoint diff runs/a runs/b");
  return diff_checkpoints(checkpoints_at(options.path).back(),
                          checkpoints_at(options.more.front()).back(), options.reading(),
                          options.is_json);
}

int reshard(const Options& options) {
  return reshard_checkpoint(checkpoints_at(options.path).back(), options.reshard,
                            options.reading());
}

// A subcommand, and what it accepts besides PATH.
struct Verb {
  std::string_view name;
  int (*run)(const Options&);
  bool has_words = false;    // paths and settings after PATH
  bool has_reshard = false;  // --parts and related options
  bool is_export = false;    // --checkpoint and related options, but no key
};
constexpr Verb kVerbs[] = {
    {.name = "ls", .run = list},
    {.name = "inspect", .run = inspect},
    {.name = "verify", .run = verify},
    {.name = "export", .run = export_weights, .has_words = true, .is_export = true},
    {.name = "reshard", .run = reshard, .has_reshard = true},
    {.name = "diff", .run = diff, .has_words = true}};

void refuse_strangers(const Options& options, const Verb& verb) {
  const struct {
    bool is_accepted;
    bool is_given;
    const char* why;
  } rules[] = {
      {verb.is_export, options.has_export_words(),
       "--checkpoint, --worker and --force are for export alone"},
      {verb.has_words, !options.more.empty(), "a second path is for export and diff"},
      {verb.has_reshard, options.reshard.are_given(),
       "--parts, --to and their like are for reshard alone"},
      {!verb.is_export, options.has_key_words(),
       "export reads with the job's own key, its setting checkpoint.key_file"},
  };
  for (const auto& rule : rules) {
    if (rule.is_given && !rule.is_accepted) refuse(rule.why);
  }
}

int act(const Options& options) {
  const Verb& verb = *std::ranges::find(kVerbs, options.what, &Verb::name);
  refuse_strangers(options, verb);
  return verb.run(options);
}

std::string set_verb(Options& options, const std::string& text) {
  options.what = text;
  std::string all;
  for (const Verb& verb : kVerbs) {
    if (verb.name == text) return {};
    all += (all.empty() ? "" : ", ") + std::string(verb.name);
  }
  return "'" + text + "' is none of " + all;
}

void add_export_options(Command& command, Options& options) {
  command.option("--checkpoint", "best|N", std::string("export: ") + kCheckpointHelp,
                 checked_checkpoint(set_text(options.step)));
  command.option("--worker", "PROGRAM",
                 "export: a program with models, data, losses or strategies of your own",
                 set_text(options.worker));
  command.flag("--force", "export: overwrite FILE", options.is_forced);
}

void add_key_options(Command& command, Options& options) {
  command.option("--key", "FILE",
                 "all but export: the key of an encrypted checkpoint; one that is not signed with "
                 "it is refused",
                 set_text(options.key));
  command.flag("--allow-unauthenticated",
               "with --key: also read a checkpoint that is not signed with it",
               options.is_unauthenticated_allowed);
}

}  // namespace

Command checkpoint_command() {
  Command command("checkpoint", "List, inspect, verify, compare, rewrite and export checkpoints",
                  "trireme checkpoint ls runs/mnist");
  command.example("trireme checkpoint verify runs/mnist");
  command.example("trireme checkpoint diff runs/a runs/b");
  command.example("trireme checkpoint export runs/gpt weights.safetensors --checkpoint best");
  command.example("trireme checkpoint reshard runs/gpt --parts 4 --to runs/gpt-in-4");
  const auto options = std::make_shared<Options>();
  command.argument(
      "ls|inspect|verify|export|reshard|diff",
      "verify reads everything, reshard writes it again; where PATH has several, inspect, reshard "
      "and diff use the newest",
      [options](const std::string& text) { return set_verb(*options, text); });
  command.argument("PATH", "a checkpoint, a folder of them or a job's output folder",
                   set_text(options->path));
  command.words(
      "FILE",
      "diff: the other checkpoint; export: the .safetensors file, or the Hugging Face folder "
      "(gpt and llama), to write, then settings key=value",
      [options](const std::vector<std::string>& all) {
        options->more = all;
        return std::string();
      });
  command.flag("--json", "ls, inspect, verify, diff: one JSON document", options->is_json);
  add_export_options(command, *options);
  ReshardWords& words = options->reshard;
  command.option("--parts", "N", "reshard: number of parts (default: the same)",
                 set_text(words.parts));
  command.option("--to", "DIR", "reshard: the folder to write to (default: in place)",
                 set_text(words.to));
  add_key_options(command, *options);
  command.option("--encrypt", "FILE", "reshard: encrypt with this key", set_text(words.new_key));
  command.flag("--decrypt", "reshard: decrypt", words.is_decrypted);
  command.flag("--compress", "reshard: compress with zstd", words.is_compressed);
  command.flag("--expand", "reshard: decompress", words.is_expanded);
  command.action([options] { return act(*options); });
  return command;
}

}  // namespace trireme::cli
