// Where the samples and the corpus are. Included into every test file by the build: a path of one machine among the
// definitions of the command line would keep a compiler cache from serving another checkout.
#pragma once

extern const char* const source_directory;
#define SOURCE_DIR source_directory
