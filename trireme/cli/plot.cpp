#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/plot/chart.h"
#include "trireme/cli/plot/latest.h"
#include "trireme/cli/plot/picture.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct PlotWords {
  std::vector<std::string> jobs;
  std::string to;
  std::string worker;
  bool is_curves_only = false;
};

struct Picture {
  const char* file;
  const char* title;
  std::vector<std::pair<const char*, const char*>> curves;  // the name in metrics.jsonl and the
                                                            // name in the legend
};

const Picture kPictures[] = {
    {"loss.svg", "Loss", {{"loss", "training"}, {"eval_loss", "evaluation"}}},
    {"accuracy.svg", "Accuracy", {{"eval_accuracy", "evaluation"}}},
    {"learning_rate.svg", "Learning rate", {{"learning_rate", "learning rate"}}},
    {"gradient_norm.svg", "Norm of the gradient", {{"gradient_norm", "norm"}}}};

// Ignores a line that is incomplete because its writer was killed.
std::vector<Json> lines_of(const fs::path& file) {
  std::vector<Json> all;
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    Json one = Json::parse(line, nullptr, false);
    if (one.is_object() && one.contains("step")) all.push_back(std::move(one));
  }
  return all;
}

std::vector<plot::Point> points_of(const std::vector<Json>& lines, const char* key) {
  std::vector<plot::Point> points;
  for (const Json& line : lines) {
    const auto found = line.find(key);
    if (found == line.end() || !found->is_number()) continue;
    points.push_back({line.at("step").get<double>(), found->get<double>()});
  }
  return points;
}

void write_picture(const fs::path& path, const std::string& svg) {
  if (svg.empty()) return;
  write_file_atomically(path, svg);
  std::printf("%s\n", path.c_str());
}

void draw_matrix(const fs::path& job, const fs::path& to) {
  const fs::path file = job / "evaluation.json";
  if (!fs::exists(file)) return;
  try {
    const Json all = Json::parse(read_file(file));
    const plot::ConfusionMatrix table{.names = all.at("classes").get<std::vector<std::string>>(),
                                      .counts = all.at("matrix").get<std::vector<std::int64_t>>()};
    const bool is_square = table.counts.size() == table.names.size() * table.names.size();
    if (table.names.empty() || !is_square) return;
    write_picture(to / "confusion.svg",
                  plot::table_svg("Row: what it is, column: what it was taken for", table));
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::Corrupt, file.string() + ": " + error.what());
  }
}

// Plots training speed over link speed, from one or more files that `trireme bench train --wire
// --json` wrote.
int draw_wires(const PlotWords& words) {
  std::map<std::string, std::vector<plot::Point>> curves;
  std::string unit;
  for (const std::string& file : words.jobs) {
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);) {
      const Json record = Json::parse(line, nullptr, false);
      if (!record.is_object() || !record.value("verified", false)) continue;
      const double wire = record.value("wire", 0.0);
      if (wire <= 0) continue;
      unit = record.at("unit").get<std::string>();
      const auto codec = record.at("codec").get<std::string>();
      curves[record.at("by").get<std::string>() + " " + record.at("sync").get<std::string>() +
             (codec == "none" ? "" : ", " + codec)]
          .push_back({wire / 1e6, record.at("units_per_second").get<double>()});
    }
  }
  if (curves.empty()) {
    throw Error(ErrorCode::InvalidInput,
                words.jobs.front() +
                    " holds no training over a wire: `trireme bench train --wire 1e9 "
                    "--json FILE` writes them");
  }
  std::vector<plot::Curve> all;
  for (auto& [name, points] : curves) {
    std::ranges::sort(points, {}, &plot::Point::x);
    all.push_back({name, std::move(points)});
  }
  const fs::path to =
      words.to.empty() ? fs::path(words.jobs.front()).parent_path() : fs::path(words.to);
  if (!to.empty()) fs::create_directories(to);
  write_picture(to / "wire.svg", plot::curves_svg(unit + " a second, by the speed of the wire", all,
                                                  {.name = "Mbit/s", .is_logarithmic = true}));
  return 0;
}

void draw_samples(const fs::path& job, const fs::path& to) {
  if (!fs::exists(job / "samples.png")) return;
  std::vector<std::string> rows;
  std::string title = "Samples";
  if (fs::exists(job / "samples.json")) {
    try {
      const Json all = Json::parse(read_file(job / "samples.json"));
      rows = all.at("classes").get<std::vector<std::string>>();
      title += " of step " + std::to_string(all.at("step").get<std::int64_t>());
    } catch (const Json::exception& error) {
      throw Error(ErrorCode::Corrupt, (job / "samples.json").string() + ": " + error.what());
    }
  }
  const std::string png = read_file(job / "samples.png");
  write_picture(to / "samples.svg", plot::picture_svg(title, bytes_of(png), rows));
}

int draw(const PlotWords& words) {
  const fs::path first = words.jobs.front();
  if (fs::is_regular_file(first)) return draw_wires(words);
  const fs::path to = words.to.empty() ? first / "plots" : fs::path(words.to);
  std::vector<std::vector<Json>> metrics;
  for (const std::string& job : words.jobs)
    metrics.push_back(lines_of(fs::path(job) / "metrics.jsonl"));
  fs::create_directories(to);
  for (const Picture& picture : kPictures) {
    std::vector<plot::Curve> curves;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      const std::string whose =
          metrics.size() == 1 ? "" : fs::path(words.jobs[i]).filename().string() + " ";
      for (const auto& [key, name] : picture.curves) {
        auto points = points_of(metrics[i], key);
        if (!points.empty()) curves.push_back({whose + name, std::move(points)});
      }
    }
    write_picture(to / picture.file, plot::curves_svg(picture.title, curves));
  }
  if (words.jobs.size() > 1) return 0;
  if (!words.is_curves_only) {
    plot::bring_up_to_date({.job = first, .worker = words.worker}, plot::run_quietly);
  }
  draw_matrix(first, to);
  draw_samples(first, to);
  return 0;
}

}  // namespace

Command plot_command() {
  Command command("plot", "Draw a job's curves, confusion matrix and samples as SVG files",
                  "trireme plot runs/mnist");
  command.example("trireme plot runs/a runs/b --to plots --curves");
  const auto words = std::make_shared<PlotWords>();
  command.argument("DIR", "the job's folder, or what bench train --wire --json wrote",
                   [words](const std::string& text) {
                     words->jobs.insert(words->jobs.begin(), text);
                     return std::string();
                   });
  command.words("DIR", "other jobs, to compare", [words](const std::vector<std::string>& all) {
    words->jobs.insert(words->jobs.end(), all.begin(), all.end());
    return std::string();
  });
  command.option("--to", "DIR", "where the pictures go (default: plots in the first job's folder)",
                 set_text(words->to));
  command.flag("--curves", "draw curves and earlier evaluations, and evaluate nothing",
               words->is_curves_only);
  command.option("--worker", "PROGRAM",
                 "a program with models, data, losses or strategies of your own",
                 set_text(words->worker));
  command.action([words] { return draw(*words); });
  return command;
}

}  // namespace trireme::cli
