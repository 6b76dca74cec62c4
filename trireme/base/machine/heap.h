// How the process reuses heap memory that it has freed.
//
// A training step allocates tensors of the same large sizes again and again. By default the kernel
// provides new zeroed pages each time; keeping the freed memory in the heap avoids that cost.

#pragma once

namespace trireme {

// Affects the whole process; call it from the main() of a training program.
void keep_large_memory();

// Returns whole free pages to the kernel. Call it once after freeing a large amount of memory that
// will not be needed again.
void return_free_memory();

}  // namespace trireme
