#include <cstdio>
#include "audit/snapshot/document.h"

int main() { std::fputs(snapshot::facts_schema().c_str(), stdout); }
