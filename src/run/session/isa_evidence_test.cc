// SPDX-License-Identifier: Apache-2.0
#include "run/session/isa_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tench::isa_evidence_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

CpuFacts Avx512Cpu() {
  CpuFacts cpu;
  cpu.architecture = "x86_64";
  cpu.flags = {"avx", "avx2", "avx512bw", "avx512dq", "avx512f", "avx512vl", "fma", "sse4_2"};
  return cpu;
}

IsaEvidence Of(std::string_view log) {
  IsaEvidence evidence;
  AddLogEvidence(log, Avx512Cpu(), evidence);
  return evidence;
}

TEST(IsaEvidenceTest, ImplementationsNameTheirInstructions) {
  EXPECT_EQ(IsaOfImplementation("brg_conv_fwd:avx512_core_vnni"), "avx512");
  EXPECT_EQ(IsaOfImplementation("jit_1x1:avx2"), "avx2");
  EXPECT_EQ(IsaOfImplementation("jit:avx"), "avx");
  EXPECT_EQ(IsaOfImplementation("jit:sse41"), "sse41");
  EXPECT_EQ(IsaOfImplementation("Intel AVX-512 with Intel DL Boost"), "avx512");
  EXPECT_EQ(IsaOfImplementation("Intel(R) Advanced Vector Extensions 2 (Intel(R) AVX2)"), "avx2");
  EXPECT_EQ(IsaOfImplementation("gemm:jit"), "");
  EXPECT_EQ(IsaOfImplementation("ref:any"), "");
}

TEST(IsaEvidenceTest, TheWidestExecutedPrimitiveCounts) {
  EXPECT_THAT(Of("onednn_verbose,v1,info,cpu,isa:Intel AVX-512\n"
                 "onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward_training,x\n"
                 "onednn_verbose,v1,primitive,exec,cpu,eltwise,jit:avx,forward_training,x\n"
                 "onednn_verbose,v1,primitive,create:cache_miss,cpu,eltwise,jit:avx512_core,x\n"),
              ElementsAre(Pair("onednn", "avx2"), Pair("onednn's limit", "avx512")));
}

TEST(IsaEvidenceTest, OlderVersionsHaveFewerColumns) {
  EXPECT_THAT(Of("dnnl_verbose,exec,cpu,convolution,jit:avx512_core,forward_training,x\n"),
              ElementsAre(Pair("onednn", "avx512")));
  EXPECT_THAT(Of("mkldnn_verbose,exec,convolution,jit:avx2,forward_training,x\n"),
              ElementsAre(Pair("onednn", "avx2")));
  EXPECT_THAT(Of("dnnl_verbose,exec\nonednn_verbose,exec,cpu\n"), IsEmpty());
}

TEST(IsaEvidenceTest, BlasLibrariesReportInTheirHeaders) {
  EXPECT_THAT(
      Of("MKL_VERBOSE oneMKL 2024.0 Product build 20231011 for Intel(R) 64 architecture Intel(R) "
         "Advanced Vector Extensions 2 (Intel(R) AVX2) enabled processors, Lnx 2.45GHz lp64\n"
         "MKL_VERBOSE SGEMM(N,N,4,4,4,0x7ff,0x5,4) 1.2us CNR:OFF Dyn:0 FastMM:1 TID:0 NThr:1\n"
         "Core: Sandybridge\n"),
      ElementsAre(Pair("mkl", "avx2"), Pair("openblas", "avx")));
}

TEST(IsaEvidenceTest, TensorFlowsWarningIsAFactInEveryForm) {
  EXPECT_EQ(InstructionsNotCompiledFor(
                "W cpu_feature_guard.cc:45] The TensorFlow library wasn't compiled to use SSE4.1 "
                "instructions, but these are available on your machine\n"
                "W cpu_feature_guard.cc:45] The TensorFlow library wasn't compiled to use AVX "
                "instructions, but these are available on your machine\n"),
            "AVX SSE4.1");
  EXPECT_EQ(InstructionsNotCompiledFor("I cpu_feature_guard.cc:140] Your CPU supports instructions "
                                       "that this TensorFlow binary was not compiled to use: AVX2 "
                                       "AVX512F FMA\n"),
            "AVX2 AVX512F FMA");
  EXPECT_EQ(InstructionsNotCompiledFor("To enable the following instructions: AVX2 FMA, in other "
                                       "operations, rebuild TensorFlow\n"),
            "AVX2 FMA");
  EXPECT_EQ(InstructionsNotCompiledFor("nothing of the kind\n"), "");
}

TEST(IsaEvidenceTest, TensorFlowsOwnCodeCannotBeLowered) {
  const IsaEvidence evidence =
      Of("To enable the following instructions: AVX2 AVX512F FMA, in other operations, rebuild\n");
  EXPECT_THAT(evidence, ElementsAre(Pair("tensorflow's own code", "avx")));
  EXPECT_THAT(Exceeding(evidence, "sse41"), ElementsAre("tensorflow's own code uses avx"));
  EXPECT_THAT(Exceeding(evidence, "avx"), IsEmpty());
}

TEST(IsaEvidenceTest, ChoicesFactsAndProfilesCount) {
  IsaEvidence evidence;
  AddChoiceEvidence({{"isa.direct kernels", "avx2"}, {"layout", "avx512"}}, evidence);
  AddChoiceEvidence({{"cpu_capability", "DEFAULT"}}, evidence);
  const std::vector<ProfileRow> rows = {{"conv1", "forward", "jit:avx512_core"},
                                        {"fc1", "forward", "gemm:jit"}};
  AddProfileEvidence(rows, evidence);
  EXPECT_THAT(evidence, ElementsAre(Pair("aten", "sse41"), Pair("direct kernels", "avx2"),
                                    Pair("kernels", "avx512")));
  EXPECT_THAT(Exceeding(evidence, "avx2"), ElementsAre("kernels uses avx512"));
  EXPECT_THAT(Exceeding(evidence, "widest"), IsEmpty());
}

}  // namespace
}  // namespace tench::isa_evidence_test
