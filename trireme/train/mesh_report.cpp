#include "trireme/train/mesh_report.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "trireme/cluster/launch/hosts/list/host_list.h"
#include "trireme/model/without_memory.h"
#include "trireme/parallel/parallel_config.h"
#include "trireme/train/recipe/read_recipe.h"
#include "trireme/train/sharded_model.h"

namespace trireme::train {
namespace {

// The last axis varies fastest, as in mesh::Mesh.
std::vector<mesh::Place> places_of(const std::vector<mesh::Axis>& axes, std::size_t rank) {
  std::vector<mesh::Place> places(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto size = static_cast<std::size_t>(axes[i].size);
    places[i] = {
        .axis = axes[i].name, .index = static_cast<int>(rank % size), .size = axes[i].size};
    rank /= size;
  }
  return places;
}

using PipePlaces = std::map<std::string, std::set<int>>;  // by parameter

bool is_held(const MeshReport::LaidOut& parameter, const std::vector<mesh::Place>& places) {
  const auto pipe = std::ranges::find(places, parallel::pipeline::kPipeAxis, &mesh::Place::axis);
  return parameter.pipe_places.empty() || pipe == places.end() ||
         parameter.pipe_places.contains(pipe->index);
}

void add_parameters(MeshReport& report, const model::Model& model,
                    const parallel::tensor::Layouts& layouts, const PipePlaces& pipe_places) {
  std::vector<std::int64_t> held(report.hosts.size());  // by rank
  for (const auto& item : model.named_parameters()) {
    const at::Tensor& tensor = item.value();
    const auto cut = layouts.find(item.key());
    MeshReport::LaidOut& own = report.parameters.emplace_back(MeshReport::LaidOut{
        .name = item.key(),
        .layout = cut == layouts.end() ? mesh::Layout(tensor.sizes().vec()) : cut->second});
    if (!pipe_places.empty()) own.pipe_places = pipe_places.at(item.key());
    for (std::size_t rank = 0; rank < held.size(); ++rank) {
      const std::vector<mesh::Place> places = places_of(report.axes, rank);
      if (!is_held(own, places)) continue;
      const std::int64_t bytes =
          own.layout.shard(places).count() * static_cast<std::int64_t>(tensor.element_size());
      own.bytes = std::max(own.bytes, bytes);
      held[rank] += bytes;
    }
    report.bytes += tensor.numel() * static_cast<std::int64_t>(tensor.element_size());
  }
  report.bytes_per_rank = *std::ranges::max_element(held);
}

// A line of the table: parameters with the same layout whose names differ in one number.
struct ParameterLine {
  std::string before, after;    // of the name, around the number
  std::vector<long> numbers{};  // of layers; empty: the name has none
  MeshReport::LaidOut layout;   // without a name

  // "transformer.h.0-3,5.ln_1.weight"
  std::string name() const {
    std::string text = before;
    for (std::size_t i = 0; i < numbers.size();) {
      std::size_t end = i + 1;
      while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
      text += (i == 0 ? "" : ",") + std::to_string(numbers[i]);
      if (end - i > 1) text += "-" + std::to_string(numbers[end - 1]);
      i = end;
    }
    return text + after;
  }
};

// The number is the first part of the name, between dots, that consists of digits.
ParameterLine line_of(const MeshReport::LaidOut& parameter) {
  const std::string& name = parameter.name;
  ParameterLine line{.before = name, .after = {}, .layout = parameter};
  line.layout.name.clear();
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (!part.empty() && part.size() < 10 &&
        part.find_first_not_of("0123456789") == std::string::npos) {
      line.before = name.substr(0, begin);
      line.after = name.substr(end);
      line.numbers = {std::stol(part)};
      return line;
    }
    begin = end + 1;
  }
  return line;
}

std::vector<ParameterLine> lines_of(const std::vector<MeshReport::LaidOut>& parameters) {
  std::vector<ParameterLine> lines;
  for (const MeshReport::LaidOut& parameter : parameters) {
    ParameterLine line = line_of(parameter);
    const auto like = std::ranges::find_if(lines, [&](const ParameterLine& other) {
      return !line.numbers.empty() && !other.numbers.empty() && other.before == line.before &&
             other.after == line.after && other.layout == line.layout;
    });
    if (like == lines.end()) {
      lines.push_back(std::move(line));
    } else {
      like->numbers.push_back(line.numbers.front());
    }
  }
  return lines;
}

using TableRow = std::vector<std::string>;

// In columns as wide as their longest cell, with two blanks between them.
std::string table_text(const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const TableRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_last = i + 1 == row.size();
      text += row[i] + (is_last ? "\n" : std::string(widths[i] + 2 - row[i].size(), ' '));
    }
  }
  return text;
}

// "0, 1".
std::string listed(const std::set<int>& places) {
  std::string text;
  for (const int place : places) text += (text.empty() ? "" : ", ") + std::to_string(place);
  return text;
}

// By rank.
std::vector<std::string> hosts_of(const WorkerWords& words) {
  if (!words.has("--hosts")) {
    const std::int64_t ranks = words.integer("--ranks", 1, 1);
    return std::vector<std::string>(static_cast<std::size_t>(ranks), "this host");
  }
  namespace hosts = cluster::launch::hosts;
  std::vector<std::string> all;
  for (const hosts::HostRanks& host : hosts::parse_hosts(words.text("--hosts"))) {
    all.insert(all.end(), static_cast<std::size_t>(host.ranks), host.name);
  }
  return all;
}

}  // namespace

std::string MeshReport::to_text() const {
  std::string text = "mesh:";
  TableRow header{"rank"};
  for (const mesh::Axis& axis : axes) {
    text += (header.size() > 1 ? " x " : " ") + axis.name + " = " + std::to_string(axis.size);
    header.push_back(axis.name);
  }
  header.emplace_back("host");
  std::vector<TableRow> ranks{header};
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    TableRow& row = ranks.emplace_back(TableRow{std::to_string(rank)});
    for (const mesh::Place& place : places_of(axes, rank)) {
      row.push_back(std::to_string(place.index));
    }
    row.push_back(hosts[rank]);
  }
  text += "\n\n" + table_text(ranks);
  if (parameters.empty()) return text + "\nEvery rank is a data-parallel replica of the model.\n";
  std::vector<TableRow> rows{{"parameter", "shape", "bytes per rank", "layout"}};
  const bool has_pipe = !parameters.front().pipe_places.empty();
  if (has_pipe) rows.front().insert(rows.front().begin() + 1, "pipe");
  for (const ParameterLine& line : lines_of(parameters)) {
    const mesh::Layout& layout = line.layout.layout;
    TableRow& row =
        rows.emplace_back(TableRow{line.name(), mesh::text_of(layout.view().tensor_sizes()),
                                   std::to_string(line.layout.bytes), layout.to_text()});
    if (has_pipe) row.insert(row.begin() + 1, listed(line.layout.pipe_places));
  }
  return text + "\n" + table_text(rows) + "\nparameters: " + std::to_string(bytes) +
         " bytes in all, at most " + std::to_string(bytes_per_rank) + " per rank\n";
}

std::string MeshReport::to_json() const {
  using Json = nlohmann::ordered_json;
  Json all{{"axes", Json::array()}, {"ranks", Json::array()}, {"parameters", Json::array()}};
  for (const mesh::Axis& axis : axes) {
    all["axes"].push_back({{"name", axis.name}, {"size", axis.size}});
  }
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    Json places = Json::object();
    for (const mesh::Place& place : places_of(axes, rank)) places[place.axis] = place.index;
    all["ranks"].push_back({{"rank", rank}, {"places", places}, {"host", hosts[rank]}});
  }
  for (const LaidOut& parameter : parameters) {
    all["parameters"].push_back({{"name", parameter.name},
                                 {"shape", parameter.layout.view().tensor_sizes()},
                                 {"bytes_per_rank", parameter.bytes},
                                 {"layout", parameter.layout.to_text()}});
    if (parameter.pipe_places.empty()) continue;
    all["parameters"].back()["pipe"] = parameter.pipe_places;
  }
  return all.dump(2, ' ', false, Json::error_handler_t::replace);
}

MeshReport mesh_report(const config::Config& config, const Kinds& kinds,
                       std::vector<std::string> hosts) {
  MeshReport report{.axes = axes_of(config, static_cast<int>(hosts.size())),
                    .hosts = std::move(hosts)};
  const auto& wanted = config.get<parallel::ParallelConfig>(parallel::kParallelSection);
  if (wanted.tensor == 1 && !wanted.is_pipelined()) return report;
  check_sharded_settings(config);
  const data::Sets sets = kinds.data.open(config);
  std::shared_ptr<model::Model> model;
  {
    const model::WithoutMemory none;
    model = kinds.models.make(config, {.form = sets.train->form()});
  }
  parallel::tensor::Layouts layouts;
  if (wanted.tensor > 1) {
    layouts = parallel::tensor::layouts_of(*model, model->split_rules(), wanted.tensor);
  }
  add_parameters(report, *model, layouts,
                 wanted.is_pipelined() ? pipe_places(config, model) : PipePlaces{});
  return report;
}

int answer_mesh(const WorkerWords& words, const Kinds& kinds) {
  const config::Config config = read_recipe(words.text("--recipe"), words.overrides(), kinds);
  const MeshReport report = mesh_report(config, kinds, hosts_of(words));
  std::fputs((words.has("--json") ? report.to_json() + "\n" : report.to_text()).c_str(), stdout);
  return 0;
}

}  // namespace trireme::train
