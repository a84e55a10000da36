// Sizes as people and fio(1) write them: 4096, 4k, 64K, 1m, 4KiB.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace probes {

// Powers of 1024 for k, m, g, t with or without a b behind. With an i (Ki) powers of 1024 too, unless `fio_units`: fio
// keeps kb_base=1024 unless told otherwise, and then Ki is 1000 (fio(1), "kb_base").
std::optional<std::uint64_t> parse_size(std::string_view text, bool fio_units = false);

}  // namespace probes
