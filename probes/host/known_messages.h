// The messages about network storage that this program knows, one row each: kernel (net/sunrpc, fs/nfs, fs/lockd,
// fs/nfsd), mount.nfs(8), rpc.statd(8), tlshd(8), nfs-ganesha, kubelet and CSI, amazon-efs-utils, guests of VM
// disks; open-iscsi and the kernel's initiator. A further family is a further table in known_message_tables().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace probes {

// What a {name} of a pattern stands for. No blanks inside: service, server, port, device, code, count, word, number.
enum class Slot : std::uint8_t { service, server, port, device, path, source, code, count, word, any };
inline constexpr std::size_t slot_count = 10;

struct Captures {
  std::array<std::string_view, slot_count> text;  // by Slot; empty: not in the pattern
  std::string_view operator[](Slot slot) const { return text[static_cast<std::size_t>(slot)]; }
};

// Literal text with {slot}s; a slot reaches to the first place where the literal behind it stands, at the end to the
// end. A leading '*' lets it begin anywhere, a trailing '$' wants the end of the message. No backtracking: the time is
// linear in the message for a pattern bound to its begin.
bool match_message(std::string_view pattern, std::string_view message, Captures& captures);

enum class CodeKind : std::uint8_t { none, errno_number, nlm_status, rpc_status, iscsi_error };

struct KnownMessage {
  const char* kind;
  const char* pattern;
  CodeKind code = CodeKind::none;
  const char* detail = nullptr;   // what it means; nullptr: the message says it
  const char* program = nullptr;  // only from a program whose name begins so
};

std::span<const std::span<const KnownMessage>> known_message_tables();

// The first row that fits, or nullptr.
const KnownMessage* find_known_message(std::string_view message, std::string_view program, Captures& captures);

}  // namespace probes
