// Linked only into mountaudit-static. A static glibc has the name services "files" and "dns" built in; any other that
// the node's nsswitch.conf names (sss, resolve, myhostname) would load a shared object of another glibc. So host names
// are looked up in /etc/hosts and the DNS only. Source: nss.h, "Name Service Switch" in the glibc manual.
#include <nss.h>

namespace {
[[maybe_unused]] const int configured = __nss_configure_lookup("hosts", "files dns");
}
