// What `demo` shows, as it was when the program was built.
#pragma once

#include <string_view>

namespace cli {

std::string_view sample_facts();  // samples/snapshots/openshift-worker.json, of demo audit
std::string_view sample_runs();   // samples/latency/nas-vs-san.csv, of demo compare

}  // namespace cli
