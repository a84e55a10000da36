#include "audit/facts/reflect.h"

#include <array>

namespace facts {

std::optional<double> Value::as_double() const {
  if (const auto* i = std::get_if<std::int64_t>(&data)) return static_cast<double>(*i);
  if (const auto* u = std::get_if<std::uint64_t>(&data)) return static_cast<double>(*u);
  if (const auto* d = std::get_if<double>(&data)) return *d;
  return std::nullopt;
}

bool Value::operator==(const Value& other) const {
  if (is_number() && other.is_number()) {
    if (data.index() == other.data.index()) return data == other.data;
    const auto* s = std::get_if<std::int64_t>(&data);
    const auto* u = std::get_if<std::uint64_t>(&other.data);
    if (s == nullptr && u == nullptr) {
      s = std::get_if<std::int64_t>(&other.data);
      u = std::get_if<std::uint64_t>(&data);
    }
    if (s != nullptr && u != nullptr) return *s >= 0 && static_cast<std::uint64_t>(*s) == *u;
    return *as_double() == *other.as_double();
  }
  return data == other.data;
}

const Field* TypeInfo::field(std::string_view name) const {
  for (const auto& f : fields) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

const TypeInfo& TypeInfo::bare() const {
  const TypeInfo* type = this;
  while (type->kind == Kind::fact || type->kind == Kind::box) type = &type->of();
  return *type;
}

std::string_view unit_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 13> units{
      {{"_bytes", "bytes"},
       {"_kib", "KiB"},
       {"_ns", "ns"},
       {"_us", "us"},
       {"_ms", "ms"},
       {"_ds", "0.1 s"},
       {"_s", "s"},
       {"_pct", "%"},
       {"_mbps", "Mb/s"},
       {"_count", "count"},
       {"_sectors", "512-byte sectors"},
       {"_pages", "pages"},
       {"_per_s", "1/s"}}};
  if (name.ends_with("_per_s")) return "1/s";
  for (const auto& [suffix, unit] : units) {
    if (name.ends_with(suffix)) return unit;
  }
  return {};
}

State Ref::state() const {
  Ref ref = *this;
  while (ref.type->kind == Kind::fact || ref.type->kind == Kind::box) {
    const State state = ref.type->state(ref.at);
    if (state != State::value) return state;
    ref = {&ref.type->of(), ref.type->inside(ref.at)};
  }
  return State::value;
}

Ref Ref::bare() const {
  Ref ref = *this;
  while (ref.type->kind == Kind::fact || ref.type->kind == Kind::box) ref = {&ref.type->of(), ref.type->inside(ref.at)};
  return ref;
}

Ref Ref::field(std::string_view name) const {
  if (type == nullptr || state() != State::value) return {};
  const Ref object = bare();
  const Field* info = object.type->field(name);
  if (info == nullptr) return {};
  return {&info->type(), info->in(object.at)};
}

std::size_t Ref::size() const {
  if (type == nullptr || state() != State::value) return 0;
  const Ref list = bare();
  return list.type->kind == Kind::list ? list.type->size(list.at) : 0;
}

Ref Ref::element(std::size_t index) const {
  const Ref list = bare();
  return {&list.type->of(), list.type->at(list.at, index)};
}

Value Ref::value() const {
  if (type == nullptr) return Unknown{};
  switch (state()) {
    case State::unknown: return Unknown{};
    case State::absent: return Absent{};
    case State::value: break;
  }
  const Ref ref = bare();
  if (ref.type->kind == Kind::list) {
    Values values;
    for (std::size_t i = 0; i < ref.size(); ++i) values.push_back(ref.element(i).value());
    return values;
  }
  return ref.type->scalar != nullptr ? ref.type->scalar(ref.at) : Value(Unknown{});
}

namespace detail {

bool assign_integer(const Value& from, std::int64_t low, std::uint64_t high, bool is_signed, std::int64_t& s,
                    std::uint64_t& u) {
  if (const auto* i = std::get_if<std::int64_t>(&from.data)) {
    if (*i < low || (*i > 0 && static_cast<std::uint64_t>(*i) > high)) return false;
    s = *i;
    u = static_cast<std::uint64_t>(*i);
    return is_signed || *i >= 0;
  }
  if (const auto* i = std::get_if<std::uint64_t>(&from.data)) {
    if (*i > high) return false;
    u = *i;
    s = static_cast<std::int64_t>(*i);
    return true;
  }
  return false;
}

}  // namespace detail

}  // namespace facts
