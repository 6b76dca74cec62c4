// run_worker() is the main() of a program that trains. `trireme` starts one process per rank, and
// asks the program which settings it has.
//
//   int main(int argc, char** argv) {
//     trireme::train::Kinds kinds = trireme::train::built_in_kinds();
//     kinds.models.add<TowerConfig>("tower", "two towers", make_tower);
//     return trireme::train::run_worker(argc, argv, kinds);
//   }
//
//   worker describe                                        its settings, as JSON
//   worker train --recipe FILE --output DIR [--resume] [--allow-changes KEYS] [--set ...]
//   worker eval --output DIR [--checkpoint best|N] [--set key=value ...]
//   worker generate --output DIR [--prompt TEXT] [...]
//   worker predict --output DIR --input PATH [--format csv|jsonl] [--file FILE] [...]
//   worker export --output DIR --file FILE [--checkpoint best|N] [--set key=value ...]
//   worker mesh --recipe FILE --ranks N|--hosts HOST:N,... [--json] [--set key=value ...]
//
// Returns the exit status: 0 for success, 2 for an error of the user, otherwise 1. `train` has
// more, for its launcher: see cluster/launch/rank/rank_exit.h. Errors are printed, never thrown.

#pragma once

#include "trireme/train/recipe/recipe.h"

namespace trireme::train {

int run_worker(int argc, char** argv, const Kinds& kinds);

}  // namespace trireme::train
