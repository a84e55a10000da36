#include "audit/base/instant.h"

#include <catch2/catch.hpp>

TEST_CASE("instant: a text with its zone is a number of seconds") {
  struct Row {
    std::string text;
    std::optional<double> epoch;
  };
  for (const Row& row : {Row{"1970-01-01T00:00:00Z", 0.0}, Row{"2026-02-10T04:31:07Z", 1770697867.0},
                         Row{"2026-02-10T04:31:07.250Z", 1770697867.25}, Row{"2026-02-10 13:31:07+09:00", 1770697867.0},
                         Row{"2026-02-09T22:31:07-06:00", 1770697867.0}, Row{"2024-02-29T00:00:00Z", 1709164800.0},
                         Row{"1969-12-31T23:59:59Z", -1.0}, Row{"2023-02-29T00:00:00Z", std::nullopt},
                         Row{"2026-13-01T00:00:00Z", std::nullopt}, Row{"2026-02-10T04:31:07", std::nullopt},
                         Row{"2026-02-10", std::nullopt}, Row{"2026-02-10T04:31:07+9", std::nullopt},
                         Row{"20xx-02-10T04:31:07Z", std::nullopt}, Row{"", std::nullopt}}) {
    INFO(row.text);
    CHECK(base::epoch_of(row.text) == row.epoch);
  }
}

TEST_CASE("instant: a number of seconds is a text in UTC") {
  CHECK(base::rfc3339(0) == "1970-01-01T00:00:00Z");
  CHECK(base::rfc3339(1770697867.4) == "2026-02-10T04:31:07Z");
  CHECK(base::rfc3339(-1) == "1969-12-31T23:59:59Z");
  CHECK(base::rfc3339(951782400) == "2000-02-29T00:00:00Z");
}
