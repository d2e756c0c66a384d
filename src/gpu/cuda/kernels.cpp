#include "gpu/cuda/kernels.h"

namespace numatlas::cuda {

// PTX 6.0 for compute capability 5.0: what every driver of the last years compiles for every GPU
// since. Written by hand after numatlas.cu; tests/gpu compares the two.
const char* const kernels_ptx = R"(.version 6.0
.target sm_50
.address_size 64

.visible .entry numatlas_chase(
  .param .u64 delta,
  .param .u64 address,
  .param .u64 loads,
  .param .u64 result)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd0, [delta];
  ld.param.u64 %rd1, [address];
  ld.param.u64 %rd2, [loads];
  ld.param.u64 %rd3, [result];
  setp.eq.u64 %p0, %rd2, 0;
  @%p0 bra done;
next:
  add.u64 %rd4, %rd1, %rd0;
  ld.volatile.global.u64 %rd1, [%rd4];
  add.u64 %rd2, %rd2, -1;
  setp.ne.u64 %p1, %rd2, 0;
  @%p1 bra next;
done:
  st.global.u64 [%rd3], %rd1;
  ret;
}

.visible .entry numatlas_copy(
  .param .u64 destination,
  .param .u64 source,
  .param .u64 words)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd0, [destination];
  ld.param.u64 %rd1, [source];
  ld.param.u64 %rd2, [words];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ntid.x;
  cvt.u64.u32 %rd3, %r2;
  mul.wide.u32 %rd4, %r0, %r3;
  add.u64 %rd3, %rd3, %rd4;
  mul.wide.u32 %rd5, %r1, %r3;
  setp.ge.u64 %p0, %rd3, %rd2;
  @%p0 bra done;
next:
  shl.b64 %rd6, %rd3, 4;
  add.u64 %rd7, %rd1, %rd6;
  add.u64 %rd8, %rd0, %rd6;
  ld.volatile.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd7];
  st.global.v4.u32 [%rd8], {%r4, %r5, %r6, %r7};
  add.u64 %rd3, %rd3, %rd5;
  setp.lt.u64 %p1, %rd3, %rd2;
  @%p1 bra next;
done:
  ret;
}
)";

}  // namespace numatlas::cuda
