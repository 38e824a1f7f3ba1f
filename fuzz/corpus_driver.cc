// SPDX-License-Identifier: Apache-2.0
// A replacement of libFuzzer for builds without clang: passes every file of a corpus folder, and
// mutations of it, to LLVMFuzzerTestOneInput. The mutations depend only on the corpus, so failures
// are reproducible. On a crash or a hang, it prints the input as hex and the file that it came
// from.

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// Defined in sanitizer builds, whose findings end the process without a signal.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

constexpr int kMutationsPerFile = 200;
constexpr size_t kMaxInputBytes = 1 << 20;
constexpr unsigned kSecondsPerInput = 20;

struct Seed {
  std::string path;
  std::string content;
};

// The state that the signal handler prints; the handler must not allocate.
struct Current {
  const char* path = "";
  int mutation = -1;
  const std::string* input = nullptr;
};
Current g_current;

void PrintRaw(std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(STDERR_FILENO, text.data(), text.size());
    if (put <= 0) return;
    text.remove_prefix(static_cast<size_t>(put));
  }
}

void PrintNumber(int value) {
  char digits[16];
  const auto end = fmt::format_to_n(digits, sizeof digits, "{}", value).out;
  PrintRaw({digits, static_cast<size_t>(end - digits)});
}

void PrintOffender() {
  if (g_current.input == nullptr) return;
  PrintRaw("\noffending input: ");
  PrintRaw(g_current.path);
  if (g_current.mutation >= 0) {
    PrintRaw(", mutation ");
    PrintNumber(g_current.mutation);
  }
  PrintRaw("\nhex: ");
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : *g_current.input) {
    const auto byte = static_cast<uint8_t>(c);
    const char pair[2] = {kDigits[byte >> 4], kDigits[byte & 15]};
    PrintRaw({pair, 2});
  }
  PrintRaw("\n");
}

void OnSignal(int number) {
  PrintRaw(number == SIGALRM ? "\nan input takes too long"
                             : "\nan input ends the program, signal ");
  if (number != SIGALRM) PrintNumber(number);
  PrintOffender();
  signal(number, SIG_DFL);
  raise(number);
}

void WatchForDeath() {
  // An alternate stack, because the fuzzed code may have overflowed the normal one.
  static std::array<char, 64 << 10> stack;
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM})
    sigaction(number, &action, nullptr);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(PrintOffender);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Bits() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  size_t Below(size_t limit) { return limit == 0 ? 0 : Bits() % limit; }

 private:
  uint64_t state_;
};

uint64_t SeedOf(std::string_view content) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : content) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

// Tokens that often break JSON and YAML parsers.
constexpr std::string_view kInteresting[] = {"0",
                                             "-1",
                                             "1e999",
                                             "-1e999",
                                             "1e-999",
                                             "9223372036854775807",
                                             "9223372036854775808",
                                             "-9223372036854775809",
                                             "0.1",
                                             "18446744073709551616",
                                             "1e308",
                                             "1000000000000",
                                             "null",
                                             "true",
                                             "\"nan\"",
                                             "\"-inf\"",
                                             "[]",
                                             "{}",
                                             "\"\"",
                                             ",",
                                             ":",
                                             "[[[[[[[[",
                                             "{\"a\":",
                                             "\\ud800",
                                             "\\u0000",
                                             "\xff\xfe",
                                             "\xc3",
                                             "\n"};

// Replaces a whole number, because such a mutation usually keeps the syntax valid.
void ReplaceNumber(std::string& text, Random& random) {
  const size_t begin = text.find_first_of("0123456789", random.Below(text.size()));
  if (begin == std::string::npos) return;
  const size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
  text.replace(begin, end - begin, kInteresting[random.Below(std::size(kInteresting))]);
}

void Mutate(std::string& text, const std::vector<Seed>& seeds, Random& random) {
  const size_t at = random.Below(text.size() + 1);
  const size_t length = std::min(text.size() - at, 1 + random.Below(16));
  switch (random.Below(8)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.Below(8)));
      break;
    case 1:
      text.resize(at);
      break;
    case 2:
      text.insert(at, text.substr(at, length));
      break;
    case 3:
      text.erase(at, length);
      break;
    case 4:
      text.insert(at, kInteresting[random.Below(std::size(kInteresting))]);
      break;
    case 5:
      ReplaceNumber(text, random);
      break;
    case 6: {
      const std::string& other = seeds[random.Below(seeds.size())].content;
      text = text.substr(0, at) + other.substr(random.Below(other.size() + 1));
      break;
    }
    default:
      if (at < text.size()) text[at] = static_cast<char>(random.Bits());
  }
  if (text.size() > kMaxInputBytes) text.resize(kMaxInputBytes);
}

void Run(const Seed& seed, int mutation, const std::string& input) {
  g_current = {seed.path.c_str(), mutation, &input};
  alarm(kSecondsPerInput);
  // An exactly sized copy lets a sanitizer detect reads past the end.
  const std::vector<uint8_t> exact(input.begin(), input.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
  alarm(0);
  g_current = {};
}

std::vector<Seed> ReadCorpus(const std::filesystem::path& folder) {
  std::vector<Seed> seeds;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.push_back({entry.path().string(), std::string(std::istreambuf_iterator<char>(file), {})});
  }
  std::sort(seeds.begin(), seeds.end(),
            [](const Seed& a, const Seed& b) { return a.path < b.path; });
  return seeds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  const std::vector<Seed> seeds = ReadCorpus(argv[1]);
  if (seeds.empty()) {
    fmt::print(stderr, "{}: the corpus is empty\n", argv[1]);
    return 2;
  }
  WatchForDeath();
  for (const Seed& seed : seeds) {
    Run(seed, -1, seed.content);
    Random random(SeedOf(seed.content));
    for (int i = 0; i < kMutationsPerFile; ++i) {
      std::string input = seed.content;
      for (size_t rounds = 1 + random.Below(4); rounds > 0; --rounds) Mutate(input, seeds, random);
      Run(seed, i, input);
    }
  }
  fmt::print("{} inputs of {} files\n", seeds.size() * (1 + kMutationsPerFile), seeds.size());
  return 0;
}
