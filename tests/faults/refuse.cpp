// refuse CALLS COMMAND...: runs a command for which the named system calls fail with EPERM, as the
// default filters of containers make them. CALLS: mbind,set_mempolicy,get_mempolicy,move_pages,...
// After "sigsys:" they bring a SIGSYS instead, as Android's filter does. Exit 77 when this system
// takes no filter.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace {

long number_of(const std::string& call) {
  if (call == "mbind") return SYS_mbind;
  if (call == "set_mempolicy") return SYS_set_mempolicy;
  if (call == "get_mempolicy") return SYS_get_mempolicy;
  if (call == "move_pages") return SYS_move_pages;
  if (call == "sched_setaffinity") return SYS_sched_setaffinity;
  if (call == "madvise") return SYS_madvise;
  if (call == "clone3") return SYS_clone3;
  return -1;
}

bool refuse(const std::vector<long>& numbers, unsigned answer) {
  std::vector<sock_filter> filter;
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (long number : numbers) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, answer));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  // Without privileges a filter needs the promise to gain none.
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<long> numbers;
  std::string list = argv[1];
  const std::string trap = "sigsys:";
  const bool traps = list.compare(0, trap.size(), trap) == 0;
  if (traps) list.erase(0, trap.size());
  std::istringstream calls(list);
  for (std::string call; std::getline(calls, call, ',');) {
    numbers.push_back(number_of(call));
    if (numbers.back() < 0) return 2;
  }
  if (!refuse(numbers, traps ? SECCOMP_RET_TRAP : SECCOMP_RET_ERRNO | EPERM)) {
    std::perror("seccomp");
    return 77;
  }
  execvp(argv[2], argv + 2);
  std::perror(argv[2]);
  return 127;
}
