// What a process does with heap memory that it has freed.
//
// A step asks for the same large tensors again and again. By default each comes fresh from the
// kernel, which zeroes it page by page; kept in the heap, they cost nothing.

#pragma once

namespace trireme {

// For the main() of a program that trains: it concerns the whole process.
void keep_large_memory();

// For once, after much was freed that will not be asked for again: whole free pages go back to the
// kernel.
void return_free_memory();

}  // namespace trireme
