// The classes of CLI11 that interfaces name. Its header takes seconds to compile; the files that
// add or read options include it.
#pragma once

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI
