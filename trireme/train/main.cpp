// The built-in worker, which trains recipes that use only Trireme's own models and data.

#include "trireme/train/worker.h"

int main(int argc, char** argv) {
  return trireme::train::run_worker(argc, argv, trireme::train::built_in_kinds());
}
