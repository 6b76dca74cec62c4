// MeshReport describes how a number of ranks would train a recipe's model together: the axes of the
// mesh, the host and the places of every rank and, if a replica consists of several ranks, how each
// parameter is laid out on them. `trireme explain RECIPE -n N` prints it.
//
// Errors:        InvalidInput and Unsupported as open_job() for axes and settings that do not fit;
//                what opening the data throws, which decide the size of some models.
// Thread safety: a value; the functions are pure.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/mesh/layout.h"
#include "trireme/mesh/mesh.h"
#include "trireme/train/recipe/recipe.h"
#include "trireme/train/recipe/worker_words.h"

namespace trireme::train {

struct MeshReport {
  struct LaidOut {
    std::string name;
    mesh::Layout layout;
    std::int64_t bytes = 0;       // of the largest shard
    std::set<int> pipe_places{};  // of the ranks that hold it; empty: all do

    friend bool operator==(const LaidOut&, const LaidOut&) = default;
  };

  std::vector<mesh::Axis> axes;
  std::vector<std::string> hosts;     // by rank
  std::vector<LaidOut> parameters{};  // empty if every rank holds a whole replica
  std::int64_t bytes = 0;             // of all parameters
  std::int64_t bytes_per_rank = 0;    // of the rank that holds most

  // For people. Parameters that differ only in the number of their layer share a line:
  // "transformer.h.0-11.attn.c_attn.weight".
  std::string to_text() const;
  // One object, with every parameter by itself.
  std::string to_json() const;
};

// `hosts`: that of every rank. Builds no memory for the model.
MeshReport mesh_report(const config::Config& config, const Kinds& kinds,
                       std::vector<std::string> hosts);

// The command `mesh` of a worker, which prints the report:
//
//   --recipe FILE, --set key=value, --json
//   --ranks N            all on this host
//   --hosts a:4,b:4      instead of --ranks
int answer_mesh(const WorkerWords& words, const Kinds& kinds);

}  // namespace trireme::train
