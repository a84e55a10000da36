// A fact has three states (DESIGN.md, Documents): not known, known to be absent, a value. A default-made Fact is not
// known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace facts {

enum class State : std::uint8_t {
  unknown,  // a missing key in the document; a row of `sources` says why
  absent,   // null: known not to be set, or not to exist
  value,
};

template <class T>
class Fact {
 public:
  using value_type = T;

  Fact() = default;
  Fact(T value) : value_(std::move(value)), state_(State::value) {}  // NOLINT: a value is a fact
  template <class U>
  requires(std::is_convertible_v<U, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
           !std::is_same_v<std::remove_cvref_t<U>, Fact>) Fact(U&& value)
      : value_(std::forward<U>(value)), state_(State::value) {}  // NOLINT

  static Fact absent() {
    Fact fact;
    fact.state_ = State::absent;
    return fact;
  }

  State state() const { return state_; }
  bool is_unknown() const { return state_ == State::unknown; }
  bool is_absent() const { return state_ == State::absent; }
  bool has_value() const { return state_ == State::value; }

  // Only with has_value().
  const T& operator*() const { return value_; }
  const T* operator->() const { return &value_; }
  T& operator*() { return value_; }
  T* operator->() { return &value_; }
  T value_or(T other) const { return has_value() ? value_ : std::move(other); }

  bool is(const T& wanted) const { return has_value() && value_ == wanted; }
  bool operator==(const Fact&) const = default;

 private:
  T value_{};
  State state_ = State::unknown;
};

// A struct that may hold one of its own kind (`earlier`). Empty is "not known". Compares and copies by value.
template <class T>
class Box {
 public:
  Box() = default;
  Box(T value) : held_(std::make_unique<T>(std::move(value))) {}  // NOLINT
  Box(const Box& other) : held_(other.held_ ? std::make_unique<T>(*other.held_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(const Box& other) {
    held_ = other.held_ ? std::make_unique<T>(*other.held_) : nullptr;
    return *this;
  }
  Box& operator=(Box&&) noexcept = default;
  ~Box() = default;

  T* get() const { return held_.get(); }
  T& operator*() const { return *held_; }
  T* operator->() const { return held_.get(); }
  explicit operator bool() const { return held_ != nullptr; }
  T& emplace() { return *(held_ = std::make_unique<T>()); }
  bool operator==(const Box& other) const {
    return (!held_ && !other.held_) || (held_ && other.held_ && *held_ == *other.held_);
  }

 private:
  std::unique_ptr<T> held_;
};

struct TypeInfo;
template <class T>
const TypeInfo& type_of();  // audit/facts/reflect.h

// One entry of a struct's field list: the key in the document, the member, one sentence for `facts list`. A struct S
// writes
//   template <class S = facts::S>
//   static auto fields() { return std::array{Field{"key", &S::member, "sentence"}, ...}; }
// An array of one type, and a template: a tuple of as many types as fields cost every translation unit seconds.
struct Field {
  std::string_view name;
  std::string_view sentence;
  const TypeInfo& (*type)();
  std::size_t offset;  // of the member in its struct

  template <class S, class M>
  Field(std::string_view key, M S::*member, std::string_view text) : name(key), sentence(text), type(&type_of<M>) {
    static const S example{};  // a real object: no layout has to be known
    offset = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(example.*member)) -
                                      reinterpret_cast<const std::byte*>(&example));
  }
  void* in(void* object) const { return static_cast<std::byte*>(object) + offset; }
  const void* in(const void* object) const { return static_cast<const std::byte*>(object) + offset; }
};

}  // namespace facts
