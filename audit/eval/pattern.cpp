#include "audit/eval/pattern.h"

#include <fmt/format.h>

#include "audit/base/text.h"

namespace audit {

namespace {

constexpr std::size_t max_states = 10000;
constexpr std::size_t max_source = 1000;
constexpr int max_depth = 50;
constexpr unsigned max_repeat = 255;

using Set = std::bitset<256>;

Set range(unsigned char from, unsigned char to) {
  Set set;
  for (unsigned c = from; c <= to; ++c) set.set(c);
  return set;
}

Set class_of(char letter) {
  switch (letter) {
    case 'd': return range('0', '9');
    case 'w': return range('0', '9') | range('a', 'z') | range('A', 'Z') | range('_', '_');
    default: return range('\t', '\r') | range(' ', ' ');
  }
}

}  // namespace

// Recursive descent into a small program (R. Cox, "Regular Expression Matching: the Virtual Machine Approach").
class PatternCompiler {
 public:
  explicit PatternCompiler(std::string_view source) : source_(source) {}

  base::Result<Pattern> run() {
    if (source_.size() > max_source)
      return base::fail(base::ErrorKind::malformed, "", fmt::format("a pattern is over {} characters", max_source));
    alternatives(0);
    if (error_.empty() && at_ < source_.size()) complain("')' without '('");
    if (!error_.empty()) return base::fail(base::ErrorKind::malformed, "", error_);
    emit({Pattern::Op::match});
    if (!error_.empty()) return base::fail(base::ErrorKind::malformed, "", error_);
    return std::move(pattern_);
  }

 private:
  using Instruction = Pattern::Instruction;
  using Op = Pattern::Op;

  void complain(std::string what) {
    if (error_.empty()) error_ = fmt::format("pattern: {} at character {}", what, at_ + 1);
  }
  bool more() const { return error_.empty() && at_ < source_.size(); }
  char peek() const { return source_[at_]; }
  std::uint32_t here() const { return static_cast<std::uint32_t>(pattern_.program_.size()); }
  std::uint32_t emit(Instruction instruction) {
    if (pattern_.program_.size() >= max_states) {
      if (error_.empty()) error_ = "pattern: too many states";
      return 0;
    }
    pattern_.program_.push_back(instruction);
    return here() - 1;
  }
  void emit_set(const Set& set) {
    pattern_.sets_.push_back(set);
    emit({Op::bytes, static_cast<std::uint32_t>(pattern_.sets_.size() - 1)});
  }
  // Moves what was emitted since `start` one place on, to make room for an instruction before it.
  void insert(std::uint32_t start, Instruction instruction) {
    if (emit({Op::match}) == 0 && !error_.empty()) return;
    auto& program = pattern_.program_;
    for (std::size_t i = program.size() - 1; i > start; --i) {
      program[i] = program[i - 1];
      if (program[i].op == Op::split || program[i].op == Op::jump) {
        if (program[i].x >= start) ++program[i].x;
        if (program[i].op == Op::split && program[i].y >= start) ++program[i].y;
      }
    }
    program[start] = instruction;
  }

  void alternatives(int depth) {
    if (depth > max_depth) return complain("groups are nested too deeply");
    const std::uint32_t start = here();
    sequence(depth);
    if (!more() || peek() != '|') return;
    ++at_;
    insert(start, {Op::split, 0, start + 1, 0});
    const std::uint32_t jump = emit({Op::jump});
    if (!error_.empty()) return;
    pattern_.program_[start].y = here();
    alternatives(depth + 1);
    if (error_.empty()) pattern_.program_[jump].x = here();
  }

  void sequence(int depth) {
    while (more() && peek() != '|' && peek() != ')') repeated(depth);
  }

  void repeated(int depth) {
    const std::uint32_t start = here();
    const std::size_t from = at_;
    atom(depth);
    int repeats = 0;
    while (more()) {
      const char c = peek();
      if (c != '*' && c != '+' && c != '?' && c != '{') return;
      if (++repeats > 1) return complain("a repeat of a repeat");
      if (c == '{') {
        counted(depth, start, from);
        continue;
      }
      ++at_;
      if (c == '*' || c == '?') insert(start, {Op::split, 0, start + 1, 0});
      if (c == '*') emit({Op::jump, 0, start});
      if (c == '+') emit({Op::split, 0, start, here() + 1});
      if (error_.empty() && c != '+') pattern_.program_[start].y = here();
    }
  }

  // {m,n}: the atom is compiled again as often as needed; the text behind the braces stays where it is.
  void counted(int depth, std::uint32_t start, std::size_t from) {
    const std::size_t close = source_.find('}', at_);
    if (close == std::string_view::npos) return complain("'{' without '}'");
    const std::string_view inside = source_.substr(at_ + 1, close - at_ - 1);
    const std::size_t comma = inside.find(',');
    const auto low = base::number<unsigned>(inside.substr(0, comma));
    std::optional<unsigned> high = low;
    const bool open = comma != std::string_view::npos && comma + 1 == inside.size();
    if (comma != std::string_view::npos && !open) high = base::number<unsigned>(inside.substr(comma + 1));
    if (!low || !high || *high < *low || *high > max_repeat) return complain("a repeat that is no {m,n} up to 255");
    pattern_.program_.resize(start);
    const auto again = [&] {
      at_ = from;
      atom(depth);
    };
    for (unsigned i = 0; i < *low && error_.empty(); ++i) again();
    if (open) {
      const std::uint32_t split = emit({Op::split, 0, here() + 1, 0});
      again();
      emit({Op::jump, 0, split});
      if (error_.empty()) pattern_.program_[split].y = here();
    } else {
      std::vector<std::uint32_t> splits;
      for (unsigned i = *low; i < *high && error_.empty(); ++i) {
        splits.push_back(emit({Op::split, 0, here() + 1, 0}));
        again();
      }
      for (const std::uint32_t split : splits) {
        if (error_.empty()) pattern_.program_[split].y = here();
      }
    }
    at_ = close + 1;
  }

  void atom(int depth) {
    const char c = peek();
    ++at_;
    switch (c) {
      case '(':
        if (source_.substr(at_).starts_with("?:")) at_ += 2;
        alternatives(depth + 1);
        if (!more() || peek() != ')') return complain("'(' without ')'");
        ++at_;
        return;
      case '[': return emit_set(bracket());
      case '.': return emit_set(Set().set());
      case '^': emit({Op::begin}); return;
      case '$': emit({Op::end}); return;
      case '*':
      case '+':
      case '?':
      case '{': --at_; return complain("a repeat of nothing");
      case '\\': return emit_set(escape());
      default: return emit_set(range(static_cast<unsigned char>(c), static_cast<unsigned char>(c)));
    }
  }

  Set escape() {
    if (!more()) {
      complain("'\\' at the end");
      return {};
    }
    const char c = peek();
    ++at_;
    if (c == 'd' || c == 'w' || c == 's') return class_of(c);
    if (c == 'D' || c == 'W' || c == 'S') return ~class_of(static_cast<char>(c - 'A' + 'a'));
    if (class_of('w').test(static_cast<unsigned char>(c))) complain("an escape that is not known");
    return range(static_cast<unsigned char>(c), static_cast<unsigned char>(c));
  }

  Set bracket() {
    Set set;
    const bool negated = more() && peek() == '^';
    if (negated) ++at_;
    for (bool first = true; more() && (first || peek() != ']'); first = false) {
      if (peek() == '\\') {
        ++at_;
        set |= escape();
        continue;
      }
      const auto from = static_cast<unsigned char>(peek());
      ++at_;
      if (at_ + 1 < source_.size() && peek() == '-' && source_[at_ + 1] != ']') {
        const auto to = static_cast<unsigned char>(source_[at_ + 1]);
        if (to < from) complain("a range that runs backwards");
        at_ += 2;
        set |= range(from, to);
      } else {
        set.set(from);
      }
    }
    if (!more()) {
      complain("'[' without ']'");
      return {};
    }
    ++at_;
    return negated ? ~set : set;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::string error_;
  Pattern pattern_;
};

base::Result<Pattern> Pattern::compile(std::string_view source) { return PatternCompiler(source).run(); }

bool Pattern::search(std::string_view text) const {
  std::vector<std::uint32_t> now, next, todo;
  std::vector<std::size_t> seen(program_.size(), 0);  // generation in which a state was last added
  std::size_t generation = 0;
  bool matched = false;
  const auto add = [&](std::vector<std::uint32_t>& list, std::uint32_t start, std::size_t at) {
    todo.push_back(start);
    while (!todo.empty()) {
      const std::uint32_t state = todo.back();
      todo.pop_back();
      if (seen[state] == generation) continue;
      seen[state] = generation;
      const Instruction& in = program_[state];
      switch (in.op) {
        case Op::bytes: list.push_back(state); break;
        case Op::jump: todo.push_back(in.x); break;
        case Op::split:
          todo.push_back(in.y);
          todo.push_back(in.x);
          break;
        case Op::begin:
          if (at == 0) todo.push_back(state + 1);
          break;
        case Op::end:
          if (at == text.size()) todo.push_back(state + 1);
          break;
        case Op::match: matched = true; break;
      }
    }
  };
  ++generation;
  add(now, 0, 0);
  for (std::size_t at = 0; at < text.size() && !matched; ++at) {
    ++generation;
    next.clear();
    for (const std::uint32_t state : now) {
      if (sets_[program_[state].set].test(static_cast<unsigned char>(text[at]))) add(next, state + 1, at + 1);
    }
    add(next, 0, at + 1);
    now.swap(next);
  }
  return matched;
}

}  // namespace audit
