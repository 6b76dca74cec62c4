// run_worker() is the main() of a program that trains: `trireme` starts it, once a rank, and asks
// it what it can do.
//
//   int main(int argc, char** argv) {
//     trireme::train::Kinds kinds = trireme::train::built_in_kinds();
//     kinds.models.add<TowerConfig>("tower", "two towers", make_tower);
//     return trireme::train::run_worker(argc, argv, kinds);
//   }
//
//   worker describe                                        its settings, as JSON
//   worker train --recipe FILE --output DIR [--resume] [--set key=value ...]
//   worker eval --output DIR [--checkpoint STEP] [--set key=value ...]
//   worker generate --output DIR [--prompt TEXT] [...]
//   worker export --output DIR --file FILE [--checkpoint STEP] [--set key=value ...]
//
// Returns 0, or 2 where the user got something wrong, or 1. Errors are printed, never thrown.

#pragma once

#include "trireme/train/recipe.h"

namespace trireme::train {

int run_worker(int argc, char** argv, const Kinds& kinds);

}  // namespace trireme::train
