// keep_large_memory(): for the main() of a program that trains.
//
// A step asks for the same large tensors again and again. By default each comes fresh from the
// kernel, which zeroes it page by page; kept in the heap, they cost nothing. It concerns the whole
// process, so only a program may decide it.

#pragma once

namespace trireme::train {

void keep_large_memory();

}  // namespace trireme::train
