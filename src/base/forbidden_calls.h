// System calls that a seccomp filter answers with SIGSYS, as Android's does for apps.
#pragma once

#include <string>

#include "base/error.h"

namespace numatlas {

/// Whether a filter ends the process for this call: the caller goes without it. Child processes try
/// the calls that may be asked for here (forbidden_calls.cpp lists them), once, and only where this
/// process has a filter, whose rules cannot be read.
bool is_forbidden(long number);

/// Why no library may be loaded that brings libnuma along, which asks for and sets memory policies
/// when it is loaded; "" where it may.
std::string why_no_libnuma();

/// The file that a call is named on: while standard error leads elsewhere, a copy of it.
void name_forbidden_calls_on(int file);

/// Before there are threads: finds out about these calls, and has any other one named when it is
/// made (exit code 4). Error (permission): one is forbidden that nothing goes without.
Expected<void> look_for_forbidden_calls();

}  // namespace numatlas
