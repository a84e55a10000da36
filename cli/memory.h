// The heap of a run that reads a large node.
#pragma once

namespace cli {

// Lets the heap grow in one large step, in pages of 2 MiB where the kernel has them (madvise(2), MADV_HUGEPAGE): on a
// node of a thousand mounts half of the time of an audit went into faults on pages of 4 KiB. What is reserved is
// addresses; memory is taken when it is written to. Where the kernel refuses, everything stays as it was.
void reserve_heap();

}  // namespace cli
