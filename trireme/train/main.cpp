// The built-in worker: what trains when a recipe names nothing that is not Trireme's own.

#include "trireme/train/worker.h"

int main(int argc, char** argv) {
  return trireme::train::run_worker(argc, argv, trireme::train::built_in_kinds());
}
