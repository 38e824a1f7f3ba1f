// SPDX-License-Identifier: Apache-2.0
#include "net/caffe/filler.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "net/caffe/text_message.h"

namespace tench {
namespace {

// The n of Caffe's xavier and msra fillers.
double Fan(const caffe::FillerParameter& filler, const Shape& shape) {
  const double count = static_cast<double>(ElementCount(shape));
  const double fan_in = count / static_cast<double>(shape[0]),
               fan_out = count / static_cast<double>(shape[1]);
  if (filler.variance_norm() == caffe::FillerParameter::FAN_OUT) return fan_out;
  if (filler.variance_norm() == caffe::FillerParameter::AVERAGE) return (fan_in + fan_out) / 2;
  return fan_in;
}

Result<Fill> ReadFanFiller(const caffe::FillerParameter& filler, const Shape& shape) {
  const bool xavier = filler.type() == "xavier";
  if (filler.variance_norm() == caffe::FillerParameter::FAN_IN)
    return Fill{xavier ? FillKind::kXavier : FillKind::kMsra, 0, 0};
  if (!xavier && filler.variance_norm() == caffe::FillerParameter::FAN_OUT)
    return Fill{FillKind::kMsraFanOut, 0, 0};
  if (shape.size() < 2 || shape[0] <= 0 || shape[1] <= 0)
    return Failed("a filler '{}' needs weights of two or more sizes", filler.type());
  const double fan = Fan(filler, shape);
  if (!xavier) return Fill{FillKind::kGaussian, 0, std::sqrt(2 / fan)};
  const double bound = std::sqrt(3 / fan);
  return Fill{FillKind::kUniform, -bound, bound};
}

}  // namespace

Result<Fill> ReadFiller(const caffe::FillerParameter& filler, const Shape& shape) {
  const std::string& type = filler.type();
  if (type == "constant") return Fill{FillKind::kConstant, DecimalOf(filler.value()), 0};
  if (type == "uniform")
    return Fill{FillKind::kUniform, DecimalOf(filler.min()), DecimalOf(filler.max())};
  if (type == "gaussian") {
    double deviation = DecimalOf(filler.std());
    // Caffe keeps each value with the probability sparse / outputs and clears the others. tench
    // fills all of them with the same variance.
    if (filler.sparse() >= 0 && !shape.empty() && shape[0] > 0)
      deviation *= std::sqrt(std::min(1.0, filler.sparse() / static_cast<double>(shape[0])));
    return Fill{FillKind::kGaussian, DecimalOf(filler.mean()), deviation};
  }
  if (type == "xavier" || type == "msra") return ReadFanFiller(filler, shape);
  if (type == "positive_unitball" || type == "bilinear")
    return Unsupported(
        "the filler '{}' is not supported; use constant, uniform, gaussian, xavier or msra", type);
  return Failed("Caffe has no filler '{}'", Printable(type));
}

}  // namespace tench
