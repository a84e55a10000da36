#include "audit/eval/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <set>
#include <sstream>

namespace audit {

namespace {

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_bytes = 1 << 20;

struct Refused {
  std::uint32_t line;
  std::string message;
};

std::uint32_t line_of(const YAML::Mark& mark) { return static_cast<std::uint32_t>(mark.line < 0 ? 0 : mark.line) + 1; }

// Builds the tree from the parser's events: yaml-cpp's own tree keeps no line for keys and resolves aliases silently.
class Builder : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    place(make(Yaml::Kind::null, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw Refused{line_of(mark), "aliases (*name) are not taken"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    Yaml scalar = make(Yaml::Kind::scalar, mark);
    scalar.text = value;
    scalar.quoted = tag == "!";
    if (!scalar.quoted && (value == "~" || value == "null")) scalar.kind = Yaml::Kind::null;
    place(std::move(scalar));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    open(make(Yaml::Kind::list, mark));
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    open(make(Yaml::Kind::map, mark));
  }
  void OnMapEnd() override { close(); }

  Yaml take() { return std::move(root_); }

 private:
  struct Open {
    Yaml node;
    bool key_next = true;
    std::set<std::string, std::less<>> seen;
  };

  static Yaml make(Yaml::Kind kind, const YAML::Mark& mark) {
    Yaml node;
    node.kind = kind;
    node.line = line_of(mark);
    return node;
  }
  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) throw Refused{line_of(mark), "anchors (&name) are not taken"};
  }
  void open(Yaml node) {
    if (stack_.size() >= max_depth) throw Refused{node.line, fmt::format("nested more than {} levels deep", max_depth)};
    if (!stack_.empty() && stack_.back().node.is_map() && stack_.back().key_next)
      throw Refused{node.line, "a key has to be a plain word"};
    stack_.push_back({std::move(node), true, {}});
  }
  void close() {
    Yaml done = std::move(stack_.back().node);
    stack_.pop_back();
    place(std::move(done));
  }
  void place(Yaml node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node.is_list()) {
      parent.node.items.push_back(std::move(node));
      return;
    }
    if (parent.key_next) {
      if (!node.is_scalar()) throw Refused{node.line, "a key has to be a plain word"};
      if (!parent.seen.insert(node.text).second)
        throw Refused{node.line, fmt::format("the key '{}' stands twice in one mapping", node.text)};
      parent.node.keys.push_back(std::move(node));
    } else {
      parent.node.items.push_back(std::move(node));
    }
    parent.key_next = !parent.key_next;
  }

  std::vector<Open> stack_;
  Yaml root_;
};

}  // namespace

const Yaml* Yaml::find(std::string_view key) const {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].text == key) return &items[i];
  }
  return nullptr;
}

base::Result<Yaml> parse_yaml(std::string_view text, const std::string& where) {
  if (text.size() > max_bytes) return base::fail(base::ErrorKind::malformed, where, "larger than 1 MiB");
  const auto refuse = [&](std::uint32_t line, const std::string& message) {
    return base::fail(base::ErrorKind::malformed, fmt::format("{}:{}", where, line), message);
  };
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    Builder builder;
    if (!parser.HandleNextDocument(builder)) return refuse(1, "empty");
    Yaml root = builder.take();
    Builder second;
    if (parser.HandleNextDocument(second)) return refuse(second.take().line, "a second document in one file");
    return root;
  } catch (const Refused& refused) {
    return refuse(refused.line, refused.message);
  } catch (const YAML::Exception& error) {
    return refuse(line_of(error.mark), error.msg);
  }
}

}  // namespace audit
