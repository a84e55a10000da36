# Writes OUTPUT, a C++ file with the text of SAMPLE as a raw string that FUNCTION gives.
file(READ "${SAMPLE}" text)
file(WRITE "${OUTPUT}"
     "// Generated from the sample.\n#include \"cli/sample.h\"\n\nnamespace cli {\n\n"
     "std::string_view ${FUNCTION}() { return R\"sample_facts(${text})sample_facts\"; }\n\n}  // namespace cli\n")
