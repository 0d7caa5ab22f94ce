// Lets a plain host compiler read the CUTLASS headers, so that the host side of a kernel needs neither nvcc's front end
// nor its device-code stubs. It is included before the first line of the source; nothing here is ever called: the
// names stand for device functions that uninstantiated templates mention.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

void __syncthreads();
void __syncwarp(unsigned mask = 0xffffffffu);
void __threadfence();
int __ffs(int);
int __dp4a(int, int, int);
unsigned __byte_perm(unsigned, unsigned, unsigned);
__half2 __hfma2(__half2, __half2, __half2);
float rsqrtf(float);
double rsqrt(double);
int atomicAdd(int*, int);
int atomicCAS(int*, int, int);
template <class T>
T __shfl_sync(unsigned, T, int, int = 32);
template <class T>
T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T>
T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T>
T __shfl_xor_sync(unsigned, T, int, int = 32);

namespace cutlass::arch {
int SmId();
}

// The host side of <mma.h>, which exists for nvcc only; CUTLASS's headers for older GPUs name these types.
namespace nvcuda::wmma {
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
template <class Use, int M, int N, int K, class Element, class Layout = void>
struct fragment {
  using element_type = Element;
  static constexpr int num_elements = 1;
  Element x[num_elements];
};
template <class Fragment, class Element>
void fill_fragment(Fragment&, Element);
template <class D, class A, class B, class C>
void mma_sync(D&, A const&, B const&, C const&);
namespace experimental {
namespace precision {
struct s4;
struct u4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR, bmmaBitOpAND };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC };
}  // namespace experimental
template <class D, class A, class B, class C>
void bmma_sync(D&, A const&, B const&, C const&, experimental::bmmaBitOp, experimental::bmmaAccumulateOp);
}  // namespace nvcuda::wmma
