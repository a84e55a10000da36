// What targets answered (iscsi.portals[].logins, iscsi.targets[].luns), beside what the node has of them: lists,
// references and numbers for rules.
#pragma once

#include <vector>

#include "audit/eval/derive.h"

namespace audit {

// Goes after add_storage_scopes(), whose sessions, targets and portals it extends.
void add_target_answer_scopes(std::vector<Scope>& all);

// The row of `sources` that tells of an answer of a target; nothing where the fact is no such answer or nobody asked.
const facts::Source* target_answer_row(const Context& context, std::string_view path, std::string_view plain,
                                       bool failed);
bool is_answer_of_target(std::string_view plain);  // of a fact, by its path without indices

}  // namespace audit
