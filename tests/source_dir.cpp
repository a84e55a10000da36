// The definition of source_dir.h, the one file that knows the path.
extern const char* const source_directory;
const char* const source_directory = SOURCE_DIRECTORY;
