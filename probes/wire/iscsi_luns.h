// What a session sees of its target's LUNs: REPORT LUNS, INQUIRY with VPD pages, READ CAPACITY(16), MODE SENSE, REPORT
// TARGET PORT GROUPS (SPC-4, SBC-3), and a few timed round trips. Every command only reads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "audit/facts/iscsi_answer.h"
#include "probes/wire/iscsi_session.h"

namespace wire::iscsi {

struct LunQuestions {
  unsigned readies = 8;              // TEST UNIT READY, timed one at a time
  unsigned reads = 16;               // of 4 KiB, spread over the LUN; 0: nothing of its contents is read
  std::size_t most_luns = 64;        // of one login; the others are named as not asked
  std::vector<std::string> numbers;  // asked for also where REPORT LUNS does not name them
  bool only_numbers = false;         // nothing but these
};

struct LunAnswer {
  facts::IscsiLun lun;  // without its portals
  facts::IscsiPathLun path;
};

struct LunsAnswer {
  std::vector<LunAnswer> luns;     // in the order of REPORT LUNS, then those asked for by number
  std::optional<Failure> listing;  // why REPORT LUNS brought nothing
  std::optional<double> nop_p50_us;
};

// Goes on as long as the session lives: a LUN that fails costs itself.
LunsAnswer ask_luns(Session& session, const LunQuestions& questions);

// "0", "16383", "0x" and 16 digits.
std::optional<Lun> lun_of_text(std::string_view text);

double median(std::vector<double> values);  // by nearest rank; at least one value

}  // namespace wire::iscsi
