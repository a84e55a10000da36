// The sample node of `demo audit`: samples/snapshots/openshift-worker.json as it was when the program was built.
#pragma once

#include <string_view>

namespace cli {

std::string_view sample_facts();

}  // namespace cli
