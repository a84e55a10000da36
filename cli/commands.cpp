#include "cli/commands.h"

#include <array>

namespace cli {

namespace {

constexpr std::array table = {
    Command{
        "", "audit", "", "this node: read its mounts, judge them, say what to change", "mountaudit audit --root /host",
        "in a debug pod: the node, not the pod",
        reading | asking | node_logins | logging_in | judging | rule_files | reporting | hiding | language | talking,
        run_audit},
    Command{"", "collect", "", "facts only, as JSON, for audit --from", "mountaudit collect > node.json",
            "then anywhere: mountaudit audit --from node.json",
            reading | asking | node_logins | logging_in | collecting | hiding | talking, run_collect},
    Command{"", "probe", "URL",
            "one server that need not be mounted: nfs://host[:port][/export] or iscsi://[user@]host[:port][/iqn[/lun]]",
            "mountaudit probe nfs://192.0.2.10/vol1", "versions, limits, locks, grace, latency; nothing is mounted",
            asking | probing | logging_in | judging | rule_files | reporting | hiding | language | talking, run_probe},
    Command{"", "latency", "TARGET..", "what a server, a LUN, a file or a device answers, and how it scales with depth",
            "mountaudit latency --allow-load nfs://192.0.2.10/vol1/file",
            "4 KiB random reads, depth 1 to 128; or iscsi://host/iqn/lun, /dev/sdb",
            loading | logging_in | judging | rule_files | reporting | hiding | language | talking, run_latency},
    Command{"", "compare", "FILE..",
            "measured runs side by side: ratios, efficient depth, ceiling, scaling; own runs, fio JSON, CSV",
            "mountaudit compare SAN=san.json NAS=nas.json", "two results of fio, by the names they are to have",
            comparing | rule_files | hiding | talking, run_compare},
    Command{"rules", "list", "", "every rule, one a line", "mountaudit rules list", "what the program knows",
            rule_files | language | talking, run_rules_list},
    Command{"rules", "explain", "ID", "all of a rule: when it speaks, why, what it advises",
            "mountaudit rules explain NFS-NCONNECT-001", "before you act on a finding", rule_files | language | talking,
            run_rules_explain},
    Command{"rules", "lint", "FILE..", "check rule files", "mountaudit rules lint site/*.yaml",
            "each mistake with file and line", talking, run_rules_lint},
    Command{"rules", "test", "FILE..", "run tests of rules: facts documents whose names say what must come out",
            "mountaudit rules test tests/rules/NFS-VERS-001", "a whole folder", rule_files | talking, run_rules_test},
    Command{"facts", "list", "", "every fact a rule can use: path, type, unit, what it says", "mountaudit facts list",
            "where to look first when writing a rule", talking, run_facts_list},
    Command{"facts", "schema", "", "JSON Schema of the facts document", "mountaudit facts schema > facts.schema.json",
            "to check documents of other tools", talking, run_facts_schema},
    Command{"demo", "audit", "", "audit of a bundled sample node: no root, no storage needed", "mountaudit demo audit",
            "an OpenShift worker on ONTAP", judging | rule_files | reporting | hiding | language | talking,
            run_demo_audit},
    Command{"demo", "compare", "", "comparison of bundled runs: iSCSI, NFS with 8 connections and with one",
            "mountaudit demo compare", "what depth, connections and more VMs bring",
            comparing | rule_files | hiding | talking, run_demo_compare},
};

constexpr std::array family_table = {
    Family{"rules", "what the program knows"},
    Family{"facts", "what the program reads"},
    Family{"demo", "try it on bundled samples"},
};

}  // namespace

std::span<const Command> commands() { return table; }
std::span<const Family> families() { return family_table; }

std::string full_name(const Command& command) {
  return command.family.empty() ? std::string(command.name)
                                : std::string(command.family) + " " + std::string(command.name);
}

bool takes(const Command& command, const Option& option) { return (command.groups & option.group) != 0; }

}  // namespace cli
