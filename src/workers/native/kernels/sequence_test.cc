// SPDX-License-Identifier: Apache-2.0
#include "workers/native/kernels/sequence.h"

#include "workers/native/kernels/test_arrays.h"

namespace tench::native::sequence_test {
namespace {

constexpr int64_t kVocabulary = 50;  // some tokens occur never, some often
constexpr SequenceShape kShapes[] = {{1, 1, 1}, {3, 7, 5}, {16, 20, 301}};

std::vector<int32_t> Tokens(const SequenceShape& shape) {
  std::vector<int32_t> tokens(shape.batch * shape.time);
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int32_t>(i * i % 37 + i % 5);
  return tokens;
}
std::vector<int32_t> Lengths(const SequenceShape& shape) {
  std::vector<int32_t> lengths(shape.batch);
  for (int64_t n = 0; n < shape.batch; ++n)
    lengths[n] = static_cast<int32_t>(1 + (n * 5 + 2) % shape.time);
  return lengths;
}

struct Index {
  explicit Index(const SequenceShape& shape, const std::vector<int32_t>& tokens)
      : starts(kVocabulary + 1), places(tokens.size()) {
    SortTokens(shape, kVocabulary, tokens.data(), starts.data(), places.data());
  }
  std::vector<int32_t> starts, places;
};

std::vector<double> TableGradient(const SequenceShape& shape, const std::vector<int32_t>& tokens,
                                  const std::vector<float>& dy) {
  std::vector<double> gradient(kVocabulary * shape.features);
  for (int64_t n = 0; n < shape.batch; ++n) {
    for (int64_t t = 0; t < shape.time; ++t) {
      for (int64_t f = 0; f < shape.features; ++f) {
        gradient[tokens[n * shape.time + t] * shape.features + f] +=
            dy[(t * shape.batch + n) * shape.features + f];
      }
    }
  }
  return gradient;
}

TEST(EmbeddingTest, ForwardLooksRowsUp) {
  for (const SequenceShape& shape : kShapes) {
    const std::vector<int32_t> tokens = Tokens(shape);
    const std::vector<float> table = RandomArray(kVocabulary * shape.features, 1);
    std::vector<double> expected(shape.time * shape.batch * shape.features);
    for (int64_t at = 0; at < shape.time * shape.batch; ++at) {
      const int64_t token = tokens[at % shape.batch * shape.time + at / shape.batch];
      for (int64_t f = 0; f < shape.features; ++f)
        expected[at * shape.features + f] = table[token * shape.features + f];
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray out(static_cast<int64_t>(expected.size()));
      EmbeddingForward(shape, tokens.data(), table.data(), out.data());
      ExpectNear(out.span(), expected, 0);
      EXPECT_TRUE(out.IsIntact());
    }
  }
}

TEST(EmbeddingTest, SortTokensListsThePositionsOfEachRow) {
  // Sample 0 has the tokens 2 0 2, sample 1 has 3 2 0; positions are t · 2 + n.
  const std::vector<int32_t> tokens = {2, 0, 2, 3, 2, 0};
  std::vector<int32_t> starts(6, -1), places(6, -1);
  SortTokens({2, 3, 1}, 5, tokens.data(), starts.data(), places.data());
  EXPECT_EQ(starts, (std::vector<int32_t>{0, 2, 2, 5, 6, 6}));
  EXPECT_EQ(places, (std::vector<int32_t>{2, 5, 0, 4, 3, 1}));
}

TEST(EmbeddingTest, BackwardWeightsSumsTheGradientsOfEachRow) {
  for (const SequenceShape& shape : kShapes) {
    const std::vector<int32_t> tokens = Tokens(shape);
    const Index index(shape, tokens);
    const std::vector<float> dy = RandomArray(shape.time * shape.batch * shape.features, 2);
    const std::vector<double> expected = TableGradient(shape, tokens, dy);
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray gradients(kVocabulary * shape.features);
      EmbeddingBackwardWeights(shape, kVocabulary, index.starts.data(), index.places.data(),
                               dy.data(), gradients.data());
      ExpectNear(gradients.span(), expected, 1e-5);
      EXPECT_TRUE(gradients.IsIntact());
    }
  }
}

TEST(EmbeddingTest, SgdUpdatesEveryRow) {
  for (const SequenceShape& shape : kShapes) {
    const std::vector<int32_t> tokens = Tokens(shape);
    const Index index(shape, tokens);
    const int64_t count = kVocabulary * shape.features;
    const std::vector<float> dy = RandomArray(shape.time * shape.batch * shape.features, 2),
                             w = RandomArray(count, 3), m = RandomArray(count, 4);
    const std::vector<double> gradient = TableGradient(shape, tokens, dy);
    std::vector<double> new_w(count), new_m(count);
    for (int64_t i = 0; i < count; ++i) {
      new_m[i] = 0.9 * m[i] + 0.25 * (gradient[i] + 0.05 * w[i]);
      new_w[i] = w[i] - new_m[i];
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray table(w), momenta(m);
      EmbeddingBackwardWeightsSgd(shape, kVocabulary, index.starts.data(), index.places.data(),
                                  dy.data(), table.data(), momenta.data(), {0.9, 2.0, 0.05}, 0.125);
      ExpectNear(table.span(), new_w, 1e-5);
      ExpectNear(momenta.span(), new_m, 1e-5);
      EXPECT_TRUE(table.IsIntact() && momenta.IsIntact());
    }
  }
}

TEST(MeanTimeTest, AveragesTheFirstStepsAndSpreadsTheirGradient) {
  for (const SequenceShape& shape : kShapes) {
    const std::vector<int32_t> lengths = Lengths(shape);
    const int64_t count = shape.time * shape.batch * shape.features;
    const std::vector<float> x = RandomArray(count, 1),
                             dy = RandomArray(shape.batch * shape.features, 2);
    std::vector<double> expected(shape.batch * shape.features), expected_dx(count);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t t = i / (shape.batch * shape.features), at = i % (shape.batch * shape.features),
                    n = at / shape.features;
      if (t >= lengths[n]) continue;
      expected[at] += double{x[i]} / lengths[n];
      expected_dx[i] = double{dy[at]} / lengths[n];
    }
    for (const int threads : kThreadCounts) {
      const ThreadCount team(threads);
      GuardedArray y(shape.batch * shape.features), dx(count);
      MeanTimeForward(shape, x.data(), lengths.data(), y.data());
      MeanTimeBackward(shape, dy.data(), lengths.data(), dx.data());
      ExpectNear(y.span(), expected, 1e-6);
      ExpectNear(dx.span(), expected_dx, 1e-6);
      EXPECT_TRUE(y.IsIntact() && dx.IsIntact());
    }
  }
}

}  // namespace
}  // namespace tench::native::sequence_test
