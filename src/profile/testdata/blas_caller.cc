// SPDX-License-Identifier: Apache-2.0
// For tests: a program that makes known BLAS calls and fails if a product is wrong.
#include <unistd.h>

#include <cstring>

extern "C" {
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc);
void cblas_sgemv(int order, int ta, int m, int n, float alpha, const float* a, int lda,
                 const float* x, int incx, float beta, float* y, int incy);
void cblas_saxpy(int n, float alpha, const float* x, int incx, float* y, int incy);
}

// Row-major: 3 × nn, 2 × nt, 1 × tn, 4 biases (k = 1), 2 products with a vector, 5 vector sums.
int main(int argc, char** argv) {
  constexpr int kRow = 101, kPlain = 111, kTransposed = 112;
  const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  float c[4] = {};
  for (int i = 0; i < 3; ++i) cblas_sgemm(kRow, kPlain, kPlain, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
  if (c[0] != 19 || c[3] != 50) return 1;
  for (int i = 0; i < 2; ++i)
    cblas_sgemm(kRow, kPlain, kTransposed, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
  if (c[0] != 17 || c[3] != 53) return 2;
  cblas_sgemm(kRow, kTransposed, kPlain, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
  if (c[0] != 26 || c[3] != 44) return 3;
  for (int i = 0; i < 4; ++i) cblas_sgemm(kRow, kPlain, kPlain, 2, 2, 1, 1, a, 1, b, 2, 0, c, 2);
  if (c[0] != 5 || c[3] != 12) return 4;
  for (int i = 0; i < 2; ++i) cblas_sgemv(kRow, kPlain, 2, 2, 1, a, 2, b, 1, 0, c, 1);
  if (c[0] != 17 || c[1] != 39) return 5;
  for (int i = 0; i < 5; ++i) cblas_saxpy(2, 1, a, 1, c, 1);
  if (c[0] != 22 || c[1] != 49) return 6;
  if (argc > 1 && std::strcmp(argv[1], "--leave") == 0) _exit(0);
  return 0;
}
