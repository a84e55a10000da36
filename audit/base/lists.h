// Small tools for lists.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

namespace base {

// Behind the others, unless it is there already.
template <class T>
void add_once(std::vector<T>& list, const std::type_identity_t<T>& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace base
