// Runs memory-bound kernels on the CPU: takes the place of `device.inc` in an emitted file, and of the CUDA runtime.
// Each thread of a block is a fiber; barriers and shuffles switch between them. A block that waits for a thread that has
// returned is reported as a deadlock. One launch runs at a time.
#pragma once

#include <cuda_runtime.h>
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }

namespace on_cpu {

constexpr int kMultiprocessors = 4;
constexpr size_t kStackBytes = 64 << 10;
constexpr size_t kSharedBytes = 232448;

struct Barrier {
  int expected = 0;
  int arrived = 0;
  unsigned generation = 0;
};

struct Block {
  int64_t index;
  std::vector<char> shared;
  Barrier barrier;
  std::vector<Barrier> warps;
  std::vector<uint32_t> words;  ///< Two sets of one word a thread, used in turn.
  Block** cluster = nullptr;
  int cluster_size = 1;
  Barrier* cluster_barrier = nullptr;
};

struct Fiber {
  ucontext_t context;
  Block* block;
  int thread;
  unsigned shuffles = 0;
  Barrier* waits_for = nullptr;
  unsigned generation = 0;
  bool done = false;
};

inline Fiber* current = nullptr;
inline ucontext_t scheduler;
inline Barrier grid;
inline int64_t blocks_in_grid = 1;
inline int threads_in_block = 1;
inline void (*body)(void*, char*) = nullptr;
inline void* parameters = nullptr;
inline std::vector<char*> stacks;

inline void wait(Barrier& barrier) {
  if (++barrier.arrived == barrier.expected) {
    barrier.arrived = 0;
    ++barrier.generation;
    return;
  }
  current->waits_for = &barrier;
  current->generation = barrier.generation;
  Fiber* const self = current;
  swapcontext(&self->context, &scheduler);
}

inline void enter() {
  // The device places shared memory at a multiple of 1024 bytes at most.
  auto const start = reinterpret_cast<uintptr_t>(current->block->shared.data());
  body(parameters, reinterpret_cast<char*>((start + 1023) / 1024 * 1024));
  current->done = true;
  swapcontext(&current->context, &scheduler);
}

/// Runs some blocks at once.
inline void run(std::vector<Block>& blocks) {
  std::vector<Fiber> fibers(blocks.size() * static_cast<size_t>(threads_in_block));
  for (size_t i = 0; i < fibers.size(); ++i) {
    Fiber& fiber = fibers[i];
    fiber.block = &blocks[i / static_cast<size_t>(threads_in_block)];
    fiber.thread = static_cast<int>(i % static_cast<size_t>(threads_in_block));
    if (i == stacks.size()) stacks.push_back(static_cast<char*>(std::malloc(kStackBytes)));
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks[i];
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, enter, 0);
  }
  size_t left = fibers.size();
  while (left > 0) {
    bool progress = false;
    for (Fiber& fiber : fibers) {
      if (fiber.done || (fiber.waits_for != nullptr && fiber.waits_for->generation == fiber.generation)) continue;
      fiber.waits_for = nullptr;
      current = &fiber;
      swapcontext(&scheduler, &fiber.context);
      progress = true;
      left -= fiber.done ? 1 : 0;
    }
    if (!progress) {
      std::fprintf(stderr, "deadlock: %zu threads wait for threads that have returned\n", left);
      std::abort();
    }
  }
}

inline void launch(cudaLaunchConfig_t const& config, void (*kernel)(void*, char*), void* params) {
  bool cooperative = false;
  int cluster = 1;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == cudaLaunchAttributeCooperative) cooperative = config.attrs[i].val.cooperative != 0;
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension) {
      cluster = static_cast<int>(config.attrs[i].val.clusterDim.x);
    }
  }
  body = kernel;
  parameters = params;
  blocks_in_grid = config.gridDim.x;
  threads_in_block = static_cast<int>(config.blockDim.x);
  if (threads_in_block % 32 != 0 || blocks_in_grid % cluster != 0 || config.dynamicSmemBytes > kSharedBytes ||
      (cooperative && blocks_in_grid * threads_in_block > 1024 * kMultiprocessors)) {
    std::fprintf(stderr, "no device takes this launch: %lld blocks of %d threads in clusters of %d, %zu bytes shared\n",
                 static_cast<long long>(blocks_in_grid), threads_in_block, cluster, config.dynamicSmemBytes);
    std::abort();
  }
  int64_t const at_once = cooperative ? blocks_in_grid : cluster;
  grid = Barrier{static_cast<int>(at_once) * threads_in_block};
  for (int64_t first = 0; first < blocks_in_grid; first += at_once) {
    std::vector<Block> blocks(static_cast<size_t>(at_once));
    std::vector<Block*> members;
    Barrier barrier{cluster * threads_in_block};
    for (size_t i = 0; i < blocks.size(); ++i) {
      blocks[i].index = first + static_cast<int64_t>(i);
      blocks[i].shared.assign(config.dynamicSmemBytes + 1024, static_cast<char>(0xcd));
      blocks[i].barrier = Barrier{threads_in_block};
      blocks[i].warps.assign(static_cast<size_t>(threads_in_block / 32), Barrier{32});
      blocks[i].words.resize(2 * static_cast<size_t>(threads_in_block));
      members.push_back(&blocks[i]);
    }
    for (Block& block : blocks) {
      block.cluster = members.data();
      block.cluster_size = cluster;
      block.cluster_barrier = &barrier;
    }
    run(blocks);
  }
}

struct Kernel {
  char const* name;
  size_t params_bytes;
  void (*call)(void*, char*);
};
Kernel const* find(char const* name);  ///< Defined after the emitted text, which it lists.

}  // namespace on_cpu

extern "C" {
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline char const* cudaGetErrorString(cudaError_t) { return "an error"; }
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount         ? on_cpu::kMultiprocessors
           : attribute == cudaDevAttrComputeCapabilityMajor ? 9
                                                               : 0;
  return cudaSuccess;
}
inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
inline cudaError_t cudaLibraryLoadData(cudaLibrary_t*, void const*, cudaJitOption*, void**, unsigned int,
                                       cudaLibraryOption*, void**, unsigned int) {
  return cudaSuccess;
}
inline cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t, char const* name) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<on_cpu::Kernel*>(on_cpu::find(name)));
  return *kernel == nullptr ? cudaErrorSymbolNotFound : cudaSuccess;
}
inline cudaError_t cudaFuncGetParamInfo(void const* function, size_t, size_t* offset, size_t* bytes) {
  *offset = 0;
  *bytes = static_cast<on_cpu::Kernel const*>(function)->params_bytes;
  return cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(void const*, cudaFuncAttribute, int) { return cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t) {
  memset(data, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaLaunchKernelExC(cudaLaunchConfig_t const* config, void const* function, void** arguments) {
  on_cpu::launch(*config, static_cast<on_cpu::Kernel const*>(function)->call, arguments[0]);
  return cudaSuccess;
}
}

// What `device.inc` declares, for fibers.
#define UCUTLASS_ON_CPU_DEVICE                                                                                         \
  namespace support {                                                                                                  \
  inline int thread_index() { return on_cpu::current->thread; }                                                        \
  inline int block_threads() { return on_cpu::threads_in_block; }                                                      \
  inline int64_t block_index() { return on_cpu::current->block->index; }                                               \
  inline int64_t grid_blocks() { return on_cpu::blocks_in_grid; }                                                      \
  inline void block_barrier() { on_cpu::wait(on_cpu::current->block->barrier); }                                       \
  inline void grid_barrier() { on_cpu::wait(on_cpu::grid); }                                                           \
  inline void cluster_barrier() { on_cpu::wait(*on_cpu::current->block->cluster_barrier); }                            \
  inline uint32_t cluster_load(uint32_t const* mine, int rank) {                                                       \
    on_cpu::Block* const block = on_cpu::current->block;                                                               \
    auto const start = [](on_cpu::Block* b) {                                                                          \
      return (reinterpret_cast<uintptr_t>(b->shared.data()) + 1023) / 1024 * 1024;                                     \
    };                                                                                                                 \
    on_cpu::Block* const other = block->cluster[rank];                                                                 \
    return *reinterpret_cast<uint32_t*>(start(other) + (reinterpret_cast<uintptr_t>(mine) - start(block)));            \
  }                                                                                                                    \
  inline uint32_t exchange(uint32_t word, int lane, bool exists) {                                                     \
    on_cpu::Fiber* const self = on_cpu::current;                                                                       \
    size_t const set = (self->shuffles++ % 2) * static_cast<size_t>(on_cpu::threads_in_block);                         \
    size_t const warp = static_cast<size_t>(self->thread / 32 * 32);                                                   \
    self->block->words[set + static_cast<size_t>(self->thread)] = word;                                                \
    on_cpu::wait(self->block->warps[static_cast<size_t>(self->thread / 32)]);                                          \
    return exists ? self->block->words[set + warp + static_cast<size_t>(lane)] : word;                                 \
  }                                                                                                                    \
  inline uint32_t shuffle_xor(uint32_t word, int mask) {                                                               \
    return exchange(word, on_cpu::current->thread % 32 ^ mask, true);                                                  \
  }                                                                                                                    \
  inline uint32_t shuffle_from(uint32_t word, int lane) { return exchange(word, lane, true); }                         \
  inline uint32_t shuffle_up(uint32_t word, int distance) {                                                            \
    int const lane = on_cpu::current->thread % 32;                                                                     \
    return exchange(word, lane - distance, lane >= distance);                                                          \
  }                                                                                                                    \
  inline void replace_half(uint8_t* byte, bool high, int bits) {                                                       \
    *byte = static_cast<uint8_t>(high ? (*byte & 15) | bits << 4 : (*byte & 240) | bits);                              \
  }                                                                                                                    \
  template <int Bytes>                                                                                                 \
  inline void start_copy(void* shared, void const* global) {                                                           \
    if (reinterpret_cast<uintptr_t>(shared) % Bytes != 0 || reinterpret_cast<uintptr_t>(global) % Bytes != 0) {        \
      std::fprintf(stderr, "a copy of %d bytes is misaligned\n", Bytes);                                               \
      std::abort();                                                                                                    \
    }                                                                                                                  \
    memcpy(shared, global, Bytes);                                                                                     \
  }                                                                                                                    \
  inline void commit_copies() {}                                                                                       \
  inline void await_copies(int) {}                                                                                     \
  }
