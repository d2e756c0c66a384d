// System calls that a seccomp filter answers with SIGSYS, as Android's does for apps.
#pragma once

namespace numatlas {

/// From now on such a call is refused (EPERM) where numatlas goes without it. Any other ends this
/// process with its name and the exit code of ErrorKind::permission.
void answer_forbidden_calls();

/// The file that a call is named on: while standard error leads elsewhere, a copy of it.
void name_forbidden_calls_on(int file);

}  // namespace numatlas
