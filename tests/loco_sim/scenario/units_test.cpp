// Quantities with units: exact conversion, and refusal of everything that is not one.
#include "options/units.hpp"

#include "tests/catch.hpp"
#include "text/words.hpp"

using loco::options::format_quantity;
using loco::options::parse_quantity;
using loco::options::Type;
using loco::text::parse_integer;

TEST_CASE("times, sizes and rates become base units exactly", "[scenario]") {
  CHECK(parse_quantity("50ns", Type::duration) == 50'000);
  CHECK(parse_quantity("1.5us", Type::duration) == 1'500'000);
  CHECK(parse_quantity("0.001ns", Type::duration) == 1);
  CHECK(parse_quantity("2 ms", Type::duration) == 2'000'000'000);
  CHECK(parse_quantity("0", Type::duration) == 0);
  CHECK(parse_quantity("4KiB", Type::size) == 4096);
  CHECK(parse_quantity("0.25KiB", Type::size) == 256);
  CHECK(parse_quantity("3kB", Type::size) == 3000);
  CHECK(parse_quantity("64", Type::size) == 64);
  CHECK(parse_quantity("25Gbps", Type::rate) == 25'000'000'000);
  CHECK(parse_quantity("0.1Tbps", Type::rate) == 100'000'000'000);
}

TEST_CASE("what is no quantity is refused", "[scenario]") {
  const auto* const text =
      GENERATE("", "ns", "-5ns", "+5ns", "5", "1.ns", ".5ns", "1e3ns", "5nss", "5 furlongs", "0x10ns", "0.0001ns",
               "99999999999999999999s", "10000000s", "1.0000000000000000001ns", "5ns ");
  CAPTURE(text);
  CHECK_FALSE(parse_quantity(text, Type::duration));
}

TEST_CASE("other spellings are taken where they mean one thing only", "[scenario]") {
  for (const char* const text : {"1usec", "1\u00b5s", "1\u03bcs", "1000nsec", "0.001msec", "1 usec"})
    CHECK(parse_quantity(text, Type::duration) == 1'000'000);
  for (const char* const text : {"64k", "64K", "64Ki", "64kib", "64KIB", "65536bytes"})
    CHECK(parse_quantity(text, Type::size) == 65'536);
  CHECK(parse_quantity("64KB", Type::size) == 64'000);
  CHECK(parse_quantity("1G", Type::size) == 1 << 30);
  for (const char* const text : {"100G", "100g", "100gbps", "100Gbit/s", "100Gbits/s", "100Gb/s", "100Gbit", "0.1T"})
    CHECK(parse_quantity(text, Type::rate) == 100'000'000'000);
  CHECK(parse_quantity("100mbps", Type::rate) == 100'000'000);
  CHECK(parse_quantity("8kbit/s", Type::rate) == 8'000);
  // Bytes or bits, mega or milli, minutes or metres: nobody knows.
  for (const char* const text : {"100GBps", "100GB/s", "100GB", "100m", "100", "1Pbps", "1kkbps"})
    CHECK_FALSE(parse_quantity(text, Type::rate));
  for (const char* const text : {"64kb", "64mb", "64kbit", "64Kb", "1T", "1m"})
    CHECK_FALSE(parse_quantity(text, Type::size));
  for (const char* const text : {"1m", "1h", "1Us", "1MS", "1S", "1min"})
    CHECK_FALSE(parse_quantity(text, Type::duration));
}

TEST_CASE("an amount is shown in the largest unit that keeps it whole", "[scenario]") {
  CHECK(format_quantity(1'500'000, Type::duration) == "1500ns");
  CHECK(format_quantity(2'000'000, Type::duration) == "2us");
  CHECK(format_quantity(0, Type::duration) == "0ps");
  CHECK(format_quantity(4096, Type::size) == "4KiB");
  CHECK(format_quantity(25'000'000'000, Type::rate) == "25Gbps");
}

TEST_CASE("integers are decimal and fit", "[scenario]") {
  CHECK(parse_integer("-7") == -7);
  CHECK(parse_integer("9223372036854775807") == 9223372036854775807);
  const auto* const text = GENERATE("", "7.0", "7 ", "0x7", "9223372036854775808", "seven", "1_000");
  CAPTURE(text);
  CHECK_FALSE(parse_integer(text));
}
