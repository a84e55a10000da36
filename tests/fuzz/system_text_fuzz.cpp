// sunrpc sysfs, tunables and tasks on any bytes; scrubbing an identity hides it for good and changes no setting.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "probes/host/client_identity.h"
#include "probes/host/sunrpc.h"
#include "probes/host/tasks.h"
#include "probes/host/tunables.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  facts::RpcTransport transport;
  (void)probes::parse_xprt_info(text, transport);
  (void)probes::parse_xprt_state(text, transport);
  facts::RpcSwitch rpc_switch;
  (void)probes::parse_xprt_switch_info(text, rpc_switch);
  (void)probes::proto_of_xprt_name(text);
  (void)probes::nodename_class(text);

  auto configured = probes::parse_sysctl_conf(text, "s").facts;
  const auto parameters = probes::parse_modprobe_conf(text, "m").facts;
  configured.insert(configured.end(), parameters.begin(), parameters.end());
  const auto boot = probes::parse_cmdline(text, "c").facts;
  configured.insert(configured.end(), boot.begin(), boot.end());
  require(probes::join_settings({}, configured).size() <= configured.size());
  const std::string scrubbed = probes::scrub_modprobe_conf(text);
  require(probes::scrub_modprobe_conf(scrubbed) == scrubbed);
  const std::string command_line = probes::scrub_cmdline(text);
  require(probes::scrub_cmdline(command_line) == command_line);

  for (const auto& task : probes::parse_tasks(text).facts.waiting) require(task.layer.empty());
  require(probes::parse_stack(text).size() <= 24);
  const auto uid = probes::pod_uid_of_cgroup(text);
  require(uid.empty() || uid.size() == 36 || uid.size() == 32);
  return 0;
}
