/* The MPI plug-in: see shim.h. The only file of numatlas that includes mpi.h. */
#include "shim.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { waiting_tag = 1 };

static MPI_Comm scopes[NUMATLAS_MPI_SCOPES] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL,
                                               MPI_COMM_NULL};

/* Shared memory given out; freed in `finish`, because MPI_Finalize wants no window left. */
static MPI_Win* windows = NULL;
static int window_count = 0;

static void copy_text(const char* from, char* text, int capacity) {
  if (capacity <= 0) return;
  strncpy(text, from, (size_t)capacity - 1);
  text[capacity - 1] = '\0';
}

static void library_version(char* text, int capacity) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  copy_text(version, text, capacity);
}

static void error_text(int code, char* text, int capacity) {
  char message[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, message, &length) != MPI_SUCCESS) message[0] = '\0';
  copy_text(message, text, capacity);
}

/* Ranks that share memory; with pretend hosts, the blocks of them that the test asks for. */
static int make_host_scope(int pretend_hosts) {
  int world_rank, world_size, code;
  MPI_Comm sharing;
  MPI_Comm_rank(scopes[NUMATLAS_MPI_WORLD], &world_rank);
  MPI_Comm_size(scopes[NUMATLAS_MPI_WORLD], &world_size);
  code = MPI_Comm_split_type(scopes[NUMATLAS_MPI_WORLD], MPI_COMM_TYPE_SHARED, world_rank,
                             MPI_INFO_NULL, &sharing);
  if (code != MPI_SUCCESS || pretend_hosts <= 1) {
    scopes[NUMATLAS_MPI_HOST] = sharing;
    return code;
  }
  code = MPI_Comm_split(sharing, (int)((long long)world_rank * pretend_hosts / world_size),
                        world_rank, &scopes[NUMATLAS_MPI_HOST]);
  MPI_Comm_free(&sharing);
  return code;
}

/* Ordered by rank in the world, so by host as the program numbers them. */
static int make_leader_scope(void) {
  int world_rank, host_rank;
  MPI_Comm_rank(scopes[NUMATLAS_MPI_WORLD], &world_rank);
  MPI_Comm_rank(scopes[NUMATLAS_MPI_HOST], &host_rank);
  return MPI_Comm_split(scopes[NUMATLAS_MPI_WORLD], host_rank == 0 ? 0 : MPI_UNDEFINED, world_rank,
                        &scopes[NUMATLAS_MPI_LEADERS]);
}

static int start(int pretend_hosts) {
  int provided, code, scope;
  code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  code = MPI_Comm_dup(MPI_COMM_WORLD, &scopes[NUMATLAS_MPI_WORLD]);
  if (code == MPI_SUCCESS) code = MPI_Comm_dup(MPI_COMM_WORLD, &scopes[NUMATLAS_MPI_FAREWELL]);
  if (code == MPI_SUCCESS) code = make_host_scope(pretend_hosts);
  if (code == MPI_SUCCESS) code = make_leader_scope();
  for (scope = 0; code == MPI_SUCCESS && scope < NUMATLAS_MPI_SCOPES; ++scope) {
    if (scopes[scope] == MPI_COMM_NULL) continue;
    MPI_Comm_set_errhandler(scopes[scope], MPI_ERRORS_RETURN);
  }
  return code;
}

static int finish(void) {
  int i;
  for (i = 0; i < window_count; ++i) {
    MPI_Win_unlock_all(windows[i]);
    MPI_Win_free(&windows[i]);
  }
  free(windows);
  windows = NULL;
  window_count = 0;
  return MPI_Finalize();
}

static void abort_all(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

static int rank(int scope) {
  int value = -1;
  if (scopes[scope] != MPI_COMM_NULL) MPI_Comm_rank(scopes[scope], &value);
  return value;
}

static int size(int scope) {
  int value = 0;
  if (scopes[scope] != MPI_COMM_NULL) MPI_Comm_size(scopes[scope], &value);
  return value;
}

/* Every start function: the request goes to the heap, so that its size is MPI's own affair. */
#define START(call)                                      \
  do {                                                   \
    MPI_Request* handle = malloc(sizeof *handle);        \
    int code = handle == NULL ? MPI_ERR_NO_MEM : (call); \
    if (code != MPI_SUCCESS) {                           \
      free(handle);                                      \
      handle = NULL;                                     \
    }                                                    \
    *request = handle;                                   \
    return code;                                         \
  } while (0)

static int barrier(int scope, void** request) { START(MPI_Ibarrier(scopes[scope], handle)); }

static int all_gather(int scope, const void* mine, int bytes, void* all, void** request) {
  START(MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, scopes[scope], handle));
}

static int all_gather_v(int scope, const void* mine, int bytes, void* all, const int* bytes_of,
                        const int* offset_of, void** request) {
  START(MPI_Iallgatherv(mine, bytes, MPI_BYTE, all, bytes_of, offset_of, MPI_BYTE, scopes[scope],
                        handle));
}

static int gather_v(int scope, const void* mine, int bytes, void* all, const int* bytes_of,
                    const int* offset_of, void** request) {
  START(MPI_Igatherv(mine, bytes, MPI_BYTE, all, bytes_of, offset_of, MPI_BYTE, 0, scopes[scope],
                     handle));
}

static int largest(int scope, const unsigned long long* mine, unsigned long long* of_all,
                   void** request) {
  START(MPI_Iallreduce(mine, of_all, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, scopes[scope], handle));
}

static int broadcast(int scope, void* data, int bytes, void** request) {
  START(MPI_Ibcast(data, bytes, MPI_BYTE, 0, scopes[scope], handle));
}

/* A message without content is on its way at once and needs no memory of the sender's. */
static int tell(int to) {
  MPI_Request request;
  int code = MPI_Isend(NULL, 0, MPI_BYTE, to, waiting_tag, scopes[NUMATLAS_MPI_WORLD], &request);
  return code == MPI_SUCCESS ? MPI_Request_free(&request) : code;
}

static int heard(int* from) {
  MPI_Status status;
  int is_there = 0;
  MPI_Comm world = scopes[NUMATLAS_MPI_WORLD];
  int code = MPI_Iprobe(MPI_ANY_SOURCE, waiting_tag, world, &is_there, &status);
  *from = -1;
  if (code != MPI_SUCCESS || !is_there) return code;
  *from = status.MPI_SOURCE;
  return MPI_Recv(NULL, 0, MPI_BYTE, *from, waiting_tag, world, MPI_STATUS_IGNORE);
}

static int test(void** request, int* done) {
  int code = MPI_Test(*request, done, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS && *done) {
    free(*request);
    *request = NULL;
  }
  return code;
}

/* Rank 0 of the host gives all the memory, the others ask where it is. The lock for all is the
 * passive epoch that MPI wants around plain loads and stores; it lasts until finish. */
static int share(size_t bytes, void** base) {
  MPI_Win window;
  MPI_Win* longer;
  MPI_Aint shared_bytes;
  void* own = NULL;
  int unit;
  MPI_Comm host = scopes[NUMATLAS_MPI_HOST];
  MPI_Aint mine = rank(NUMATLAS_MPI_HOST) == 0 ? (MPI_Aint)bytes : 0;
  int code = MPI_Win_allocate_shared(mine, 1, MPI_INFO_NULL, host, &own, &window);
  if (code == MPI_SUCCESS) code = MPI_Win_shared_query(window, 0, &shared_bytes, &unit, base);
  if (code == MPI_SUCCESS) code = MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  if (code != MPI_SUCCESS) return code;
  longer = realloc(windows, (size_t)(window_count + 1) * sizeof *windows);
  if (longer == NULL) return MPI_ERR_NO_MEM;
  windows = longer;
  windows[window_count++] = window;
  return MPI_SUCCESS;
}

const struct numatlas_mpi_table* numatlas_mpi_plugin(void) {
  static const struct numatlas_mpi_table table = {
      .abi = NUMATLAS_MPI_ABI,
      .library_version = library_version,
      .error_text = error_text,
      .start = start,
      .finish = finish,
      .abort = abort_all,
      .rank = rank,
      .size = size,
      .barrier = barrier,
      .all_gather = all_gather,
      .all_gather_v = all_gather_v,
      .gather_v = gather_v,
      .largest = largest,
      .broadcast = broadcast,
      .tell = tell,
      .heard = heard,
      .test = test,
      .share = share,
  };
  return &table;
}
