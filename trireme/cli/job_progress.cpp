#include "trireme/cli/job_progress.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "trireme/base/clock.h"
#include "trireme/base/record.h"

namespace trireme::cli {
namespace {

// Longer than the lines of a few evaluations, which contain no training progress.
constexpr std::streamoff kTailMax = 1 << 16;
constexpr std::string_view kPerSecond = "_per_second";

std::string tail_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg();
  const std::streamoff count = std::min(size, kTailMax);
  std::string text(static_cast<std::size_t>(count), '\0');
  in.seekg(size - count);
  in.read(text.data(), count);
  return in ? text : std::string();
}

// A loss that is not finite is written as a string.
double number_in(const nlohmann::json& value) {
  return value.is_number() ? value.get<double>() : std::nan("");
}

std::optional<JobProgress> progress_in(const std::string& line) {
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("step") || !json.contains("loss")) return std::nullopt;
  if (!json["step"].is_number_integer()) return std::nullopt;
  JobProgress found{.step = json["step"], .loss = number_in(json["loss"]), .unit = "samples"};
  if (json.contains("time")) found.time = number_in(json["time"]);
  for (const auto& [key, value] : json.items()) {
    if (!key.ends_with(kPerSecond)) continue;
    found.unit = key.substr(0, key.size() - kPerSecond.size());
    found.speed = number_in(value);
  }
  return found;
}

}  // namespace

std::optional<JobProgress> JobProgress::latest(const std::filesystem::path& output, double since) {
  if (output.empty()) return std::nullopt;
  std::string text = tail_of(output / "metrics.jsonl");
  // Text after the last newline is still being written.
  text.resize(text.find_last_of('\n') == std::string::npos ? 0 : text.find_last_of('\n'));
  while (!text.empty()) {
    const std::size_t newline = text.find_last_of('\n');
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    if (auto found = progress_in(text.substr(begin))) {
      if (found->time && *found->time < since) return std::nullopt;
      found->output = output;
      return found;
    }
    text.resize(begin == 0 ? 0 : newline);
  }
  return std::nullopt;
}

std::string JobProgress::to_json() const {
  return Record{{"time", wall_seconds()},
                {"event", "progress"},
                {"step", step},
                {"loss", loss},
                {unit + std::string(kPerSecond), speed},
                {"output", output.string()}}
      .to_json();
}

}  // namespace trireme::cli
