// Several texts speak of one session or disk: what the later one adds to what is known. A value that is known stays;
// the text that is read first is the one that knows most.
#pragma once

#include <string>

#include "audit/facts/facts.h"
#include "probes/host/iscsiadm.h"

namespace probes {

// A session is the same by its number, else by target, portal and interface where either text has no number.
void add_sessions(facts::Facts& facts, SessionText said);
void add_device(facts::Facts& facts, facts::BlockDevice device);

}  // namespace probes
