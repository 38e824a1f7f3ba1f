// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD that records the BLAS calls of a process: matrix products, products of a
// matrix and a vector, and level-1 functions, in single and double precision, by the C and the
// Fortran interface. Calls with equal arguments are one row: their number and their time.
//
// TENCH_BLAS_CENSUS names a folder; the process writes PID.tsv there when it exits (blas_census.h
// reads it). Without the variable nothing is recorded.
//
// Only the outermost call of a thread counts: a C interface that calls the Fortran one is one call.
// Only calls through the dynamic linker are seen: not those within a BLAS, nor of a BLAS that is
// linked statically or called through a table of pointers.
// Thread safety: every function may be called by any thread.
#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#define TENCH_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Name of the function, order ('R' or 'C', '-' = none), transposes ('n', 't', '-'), m, n, k.
struct Key {
  const char* function;
  char order, trans_a, trans_b;
  std::array<int64_t, 3> sizes;
  auto operator<=>(const Key& other) const = default;
};
struct Sum {
  int64_t calls = 0, time_ns = 0;
};

// Never destroyed: threads may still call functions while the process exits.
struct Record {
  std::mutex mutex;
  std::map<Key, Sum> sums;
};
Record& TheRecord() {
  static auto* record = new Record;
  return *record;
}

const char* Folder() {
  static const char* folder = std::getenv("TENCH_BLAS_CENSUS");
  return folder;
}

thread_local int depth = 0;

int64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void Write() {
  if (Folder() == nullptr) return;
  Record& record = TheRecord();
  // A signal handler that exits may have interrupted a call that holds the lock.
  const std::unique_lock lock(record.mutex, std::try_to_lock);
  if (!lock.owns_lock() || record.sums.empty()) return;
  const std::string path = std::string(Folder()) + "/" + std::to_string(getpid()) + ".tsv";
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return;
  for (const auto& [key, sum] : record.sums)
    std::fprintf(file, "%s\t%c\t%c\t%c\t%lld\t%lld\t%lld\t%lld\t%lld\n", key.function, key.order,
                 key.trans_a, key.trans_b, static_cast<long long>(key.sizes[0]),
                 static_cast<long long>(key.sizes[1]), static_cast<long long>(key.sizes[2]),
                 static_cast<long long>(sum.calls), static_cast<long long>(sum.time_ns));
  std::fclose(file);
}

__attribute__((destructor)) void WriteAtExit() { Write(); }

// Records the time until its end as one call, unless it is within another.
class Call {
 public:
  explicit Call(const Key& key) : key_(key), counts_(Folder() != nullptr && depth++ == 0) {
    if (counts_) begin_ns_ = NowNs();
  }
  ~Call() {
    if (Folder() == nullptr) return;
    --depth;
    if (!counts_) return;
    const int64_t time_ns = NowNs() - begin_ns_;
    Record& record = TheRecord();
    const std::lock_guard lock(record.mutex);
    Sum& sum = record.sums[key_];
    ++sum.calls;
    sum.time_ns += time_ns;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  const Key key_;
  const bool counts_;
  int64_t begin_ns_ = 0;
};

// A library that a framework opened with RTLD_LOCAL is not among the next ones in the global order.
struct Search {
  const char* name;
  void* own;
  void* found = nullptr;
};
int SearchLibrary(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (info->dlpi_name == nullptr || info->dlpi_name[0] == '\0') return 0;
  void* handle = dlopen(info->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return 0;
  void* symbol = dlsym(handle, search.name);
  dlclose(handle);
  if (symbol == nullptr || symbol == search.own) return 0;
  search.found = symbol;
  return 1;
}

void* RealFunction(const char* name, void* own) {
  if (void* next = dlsym(RTLD_NEXT, name); next != nullptr) return next;
  Search search{name, own};
  dl_iterate_phdr(SearchLibrary, &search);
  if (search.found != nullptr) return search.found;
  std::fprintf(stderr, "tench-blas-census: no library has %s\n", name);
  std::abort();
}

template <class Function>
Function Real(const char* name, Function own) {
  return reinterpret_cast<Function>(RealFunction(name, reinterpret_cast<void*>(own)));
}

char OrderOf(int order) { return order == 101 ? 'R' : 'C'; }              // CBLAS_ORDER
char TransposeOf(int transpose) { return transpose == 111 ? 'n' : 't'; }  // CBLAS_TRANSPOSE
char TransposeOf(const char* transpose) {
  return *transpose == 'n' || *transpose == 'N' ? 'n' : 't';
}

}  // namespace

// The real function is looked up once per function.
#define TENCH_REAL(name) static const auto real = Real(#name, &name)

#define TENCH_CBLAS_GEMM(name, T)                                                             \
  TENCH_EXPORT void name(int order, int ta, int tb, int m, int n, int k, T alpha, const T* a, \
                         int lda, const T* b, int ldb, T beta, T* c, int ldc) {               \
    TENCH_REAL(name);                                                                         \
    const Call call({#name, OrderOf(order), TransposeOf(ta), TransposeOf(tb), {m, n, k}});    \
    real(order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                        \
  }
#define TENCH_GEMM(name, T)                                                                        \
  TENCH_EXPORT void name(const char* ta, const char* tb, const int* m, const int* n, const int* k, \
                         const T* alpha, const T* a, const int* lda, const T* b, const int* ldb,   \
                         const T* beta, T* c, const int* ldc) {                                    \
    TENCH_REAL(name);                                                                              \
    const Call call({#name, 'C', TransposeOf(ta), TransposeOf(tb), {*m, *n, *k}});                 \
    real(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                    \
  }
#define TENCH_CBLAS_GEMV(name, T)                                                       \
  TENCH_EXPORT void name(int order, int ta, int m, int n, T alpha, const T* a, int lda, \
                         const T* x, int incx, T beta, T* y, int incy) {                \
    TENCH_REAL(name);                                                                   \
    const Call call({#name, OrderOf(order), TransposeOf(ta), '-', {m, n, 0}});          \
    real(order, ta, m, n, alpha, a, lda, x, incx, beta, y, incy);                       \
  }
#define TENCH_GEMV(name, T)                                                                      \
  TENCH_EXPORT void name(const char* ta, const int* m, const int* n, const T* alpha, const T* a, \
                         const int* lda, const T* x, const int* incx, const T* beta, T* y,       \
                         const int* incy) {                                                      \
    TENCH_REAL(name);                                                                            \
    const Call call({#name, 'C', TransposeOf(ta), '-', {*m, *n, 0}});                            \
    real(ta, m, n, alpha, a, lda, x, incx, beta, y, incy);                                       \
  }
#define TENCH_CBLAS_AXPY(name, T)                                                \
  TENCH_EXPORT void name(int n, T alpha, const T* x, int incx, T* y, int incy) { \
    TENCH_REAL(name);                                                            \
    const Call call({#name, '-', '-', '-', {n, 0, 0}});                          \
    real(n, alpha, x, incx, y, incy);                                            \
  }
#define TENCH_CBLAS_AXPBY(name, T)                                                       \
  TENCH_EXPORT void name(int n, T alpha, const T* x, int incx, T beta, T* y, int incy) { \
    TENCH_REAL(name);                                                                    \
    const Call call({#name, '-', '-', '-', {n, 0, 0}});                                  \
    real(n, alpha, x, incx, beta, y, incy);                                              \
  }
#define TENCH_CBLAS_SCAL(name, T)                          \
  TENCH_EXPORT void name(int n, T alpha, T* x, int incx) { \
    TENCH_REAL(name);                                      \
    const Call call({#name, '-', '-', '-', {n, 0, 0}});    \
    real(n, alpha, x, incx);                               \
  }
#define TENCH_CBLAS_COPY(name, T)                                       \
  TENCH_EXPORT void name(int n, const T* x, int incx, T* y, int incy) { \
    TENCH_REAL(name);                                                   \
    const Call call({#name, '-', '-', '-', {n, 0, 0}});                 \
    real(n, x, incx, y, incy);                                          \
  }
#define TENCH_CBLAS_DOT(name, T)                                           \
  TENCH_EXPORT T name(int n, const T* x, int incx, const T* y, int incy) { \
    TENCH_REAL(name);                                                      \
    const Call call({#name, '-', '-', '-', {n, 0, 0}});                    \
    return real(n, x, incx, y, incy);                                      \
  }
#define TENCH_CBLAS_ASUM(name, T)                       \
  TENCH_EXPORT T name(int n, const T* x, int incx) {    \
    TENCH_REAL(name);                                   \
    const Call call({#name, '-', '-', '-', {n, 0, 0}}); \
    return real(n, x, incx);                            \
  }

TENCH_CBLAS_GEMM(cblas_sgemm, float)
TENCH_CBLAS_GEMM(cblas_dgemm, double)
TENCH_GEMM(sgemm_, float)
TENCH_GEMM(dgemm_, double)
TENCH_CBLAS_GEMV(cblas_sgemv, float)
TENCH_CBLAS_GEMV(cblas_dgemv, double)
TENCH_GEMV(sgemv_, float)
TENCH_GEMV(dgemv_, double)
TENCH_CBLAS_AXPY(cblas_saxpy, float)
TENCH_CBLAS_AXPY(cblas_daxpy, double)
TENCH_CBLAS_AXPBY(cblas_saxpby, float)
TENCH_CBLAS_AXPBY(cblas_daxpby, double)
TENCH_CBLAS_SCAL(cblas_sscal, float)
TENCH_CBLAS_SCAL(cblas_dscal, double)
TENCH_CBLAS_COPY(cblas_scopy, float)
TENCH_CBLAS_COPY(cblas_dcopy, double)
TENCH_CBLAS_DOT(cblas_sdot, float)
TENCH_CBLAS_DOT(cblas_ddot, double)
TENCH_CBLAS_ASUM(cblas_sasum, float)
TENCH_CBLAS_ASUM(cblas_dasum, double)

namespace {
[[noreturn]] void Leave(int code) {
  Write();
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}
}  // namespace

// A process that leaves without destructors writes its record too.
TENCH_EXPORT void _exit(int code) { Leave(code); }
TENCH_EXPORT void _Exit(int code) { Leave(code); }
