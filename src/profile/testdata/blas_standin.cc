// SPDX-License-Identifier: Apache-2.0
// For tests: a BLAS with the functions of blas_caller.cc. Its C interface calls the Fortran one
// through the dynamic linker, as the reference BLAS does.

#define TENCH_EXPORT extern "C" __attribute__((visibility("default")))

// Column-major.
TENCH_EXPORT void sgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k,
                         const float* alpha, const float* a, const int* lda, const float* b,
                         const int* ldb, const float* beta, float* c, const int* ldc) {
  for (int j = 0; j < *n; ++j) {
    for (int i = 0; i < *m; ++i) {
      float sum = 0;
      for (int p = 0; p < *k; ++p)
        sum += (*ta == 'n' ? a[i + p * *lda] : a[p + i * *lda]) *
               (*tb == 'n' ? b[p + j * *ldb] : b[j + p * *ldb]);
      float& out = c[i + j * *ldc];
      out = *alpha * sum + (*beta == 0 ? 0 : *beta * out);
    }
  }
}

// Row-major only: the transposed product of exchanged operands.
TENCH_EXPORT void cblas_sgemm(int, int ta, int tb, int m, int n, int k, float alpha, const float* a,
                              int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  const char left = tb == 111 ? 'n' : 't', right = ta == 111 ? 'n' : 't';
  sgemm_(&left, &right, &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc);
}

TENCH_EXPORT void cblas_sgemv(int, int, int m, int n, float alpha, const float* a, int lda,
                              const float* x, int, float, float* y, int) {
  for (int i = 0; i < m; ++i) {
    y[i] = 0;
    for (int j = 0; j < n; ++j) y[i] += alpha * a[i * lda + j] * x[j];
  }
}

TENCH_EXPORT void cblas_saxpy(int n, float alpha, const float* x, int, float* y, int) {
  for (int i = 0; i < n; ++i) y[i] += alpha * x[i];
}
