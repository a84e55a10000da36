// Runs one fuzzer without libFuzzer, so that every compiler and the test suite have it: all seeds, then mutants of them
// from a fixed random sequence. It looks for what crashes or breaks a promise; coverage is libFuzzer's business.
//   X_replay COUNT SEED_DIRECTORY..
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

Input read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(in), {});
}

// A few changes of the kinds that break decoders: bits, words that are counts or lengths, cuts, repeats, splices.
Input mutant(const std::vector<Input>& seeds, std::mt19937_64& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(random() % limit); };
  Input input = seeds[below(seeds.size())];
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(input.size());
    switch (below(6)) {
      case 0:
        if (!input.empty()) input[at] = static_cast<std::uint8_t>(input[at] ^ (1U << below(8)));
        break;
      case 1: {
        static constexpr std::uint32_t words[] = {0,   1,    2,     3,          4,          7,
                                                  255, 1024, 65536, 0x7fffffff, 0x80000000, 0xffffffff};
        const std::uint32_t word = words[below(std::size(words))];
        const std::size_t aligned = at / 4 * 4;
        for (std::size_t i = 0; i < 4 && aligned + i < input.size(); ++i)
          input[aligned + i] = static_cast<std::uint8_t>(word >> (24 - 8 * i));
        break;
      }
      case 2: input.resize(at); break;
      case 3: input.insert(input.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(random())); break;
      case 4: {
        const Input piece(input.begin() + static_cast<std::ptrdiff_t>(at), input.end());
        if (input.size() < 16384) input.insert(input.end(), piece.begin(), piece.end());
        break;
      }
      default: {
        const Input& other = seeds[below(seeds.size())];
        input.resize(at);
        input.insert(input.end(), other.begin() + static_cast<std::ptrdiff_t>(below(other.size())), other.end());
      }
    }
  }
  return input;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: %s COUNT SEED_DIRECTORY..\n", arguments[0]);
    return 2;
  }
  std::vector<std::filesystem::path> paths;
  for (int i = 2; i < count; ++i)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(arguments[i]))
      if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Input> seeds;
  for (const auto& path : paths) seeds.push_back(read(path));
  if (seeds.empty()) {
    std::fprintf(stderr, "%s: no seeds\n", arguments[0]);
    return 2;
  }
  for (const auto& seed : seeds) LLVMFuzzerTestOneInput(seed.data(), seed.size());
  std::mt19937_64 random(20240229);
  for (long left = std::strtol(arguments[1], nullptr, 10); left > 0; --left) {
    const Input input = mutant(seeds, random);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  return 0;
}
