/* What the program and its MPI plug-ins say to each other: a table of functions in plain C, so that
 * the program itself needs no MPI and one build serves several MPI libraries. A plug-in is shim.c,
 * compiled by one MPI's own compiler wrapper.
 *
 * Whatever may wait for another rank is started here and asked for with `test`; the program
 * sleeps in between. Functions return 0 or an MPI error code for `error_text`. Buffers belong to
 * the caller and must live until `test` says that the operation is done. */
#ifndef NUMATLAS_COMM_MPI_SHIM_H
#define NUMATLAS_COMM_MPI_SHIM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of the table. */
#define NUMATLAS_MPI_ABI 3
#define NUMATLAS_MPI_ENTRY "numatlas_mpi_plugin"

/* Groups of ranks. LEADERS are the first ranks of the hosts, by host; the other ranks have no such
 * group, and size 0 in it. FAREWELL has the members of WORLD; it carries only the last exchange, so
 * that it matches even where ranks stopped in the middle of different operations. */
enum numatlas_mpi_scope {
  NUMATLAS_MPI_WORLD,
  NUMATLAS_MPI_HOST,
  NUMATLAS_MPI_LEADERS,
  NUMATLAS_MPI_FAREWELL,
  NUMATLAS_MPI_SCOPES
};

struct numatlas_mpi_table {
  int abi;                                           /* NUMATLAS_MPI_ABI of the plug-in */
  void (*library_version)(char* text, int capacity); /* works before start */
  void (*error_text)(int code, char* text, int capacity);

  /* MPI_Init_thread and the groups; pretend_hosts > 1 splits each host's ranks (for tests). */
  int (*start)(int pretend_hosts);
  int (*finish)(void); /* MPI_Finalize */
  void (*abort)(int exit_code);
  int (*rank)(int scope);
  int (*size)(int scope);

  int (*barrier)(int scope, void** request);
  int (*all_gather)(int scope, const void* mine, int bytes, void* all, void** request);
  int (*all_gather_v)(int scope, const void* mine, int bytes, void* all, const int* bytes_of,
                      const int* offset_of, void** request);
  int (*gather_v)(int scope, const void* mine, int bytes, void* all, const int* bytes_of,
                  const int* offset_of, void** request); /* to rank 0 */
  int (*largest)(int scope, const unsigned long long* mine, unsigned long long* of_all,
                 void** request);
  int (*broadcast)(int scope, void* data, int bytes, void** request); /* from rank 0 */
  int (*tell)(int to);     /* a message without content, to a rank of WORLD; does not wait */
  int (*heard)(int* from); /* takes such a message; -1 where none is there */
  int (*test)(void** request, int* done); /* frees the request when done */

  /* Memory shared by HOST; blocks until all its ranks call it. `base` is where it stands in this
   * process; the memory belongs to MPI and lives until finish. */
  int (*share)(size_t bytes, void** base);
};

/* The one symbol of a plug-in. */
const struct numatlas_mpi_table* numatlas_mpi_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
