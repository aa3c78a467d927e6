// SPDX-License-Identifier: GPL-2.0-only

// The lemmas of the convergence analysis, measured: one round of Algorithm 1 on a problem that
// meets every assumption, averaged over clusters, batches, quantizer and noise, beside each bound.
//
// How much the bounds say. Lemma 7, and with it the recursion, contains L^2 zeta / K, which does
// not fall with the learning rate although the error that it bounds does: unless the model is so
// far off that one round gains more than that, the bound exceeds the error before the round and
// says nothing (here: below a distance of about 12 from the optimum). Lemma 5 charges every
// coordinate of every device with twice the square of a whole step, where weights average the
// errors: about 60 to 130 times too large. Lemma 6 replaces sum omega^2 sigma^2 by sum sigma^2: N^2
// = 16 times too large for equal weights.

#include "ns3/convergence-bound.h"
#include "ns3/federated-random.h"

#include <Eigen/Dense>
#include <boost/random/normal_distribution.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

using Eigen::MatrixXd;
using Eigen::VectorXd;

/**
 * @ingroup federated-tests
 * @brief Logistic regression with an l2 term that makes gamma = 2 mu, on synthetic data.
 */
struct Regression
{
    /**
     * @param samples Number of samples.
     * @param dimension d.
     * @param random Source of the data.
     */
    Regression(int samples, int dimension, FederatedRandom& random)
        : x(samples, dimension)
    {
        boost::random::normal_distribution<double> normal;
        VectorXd truth(dimension);
        std::generate(truth.data(), truth.data() + dimension, [&] { return normal(random); });
        for (int i = 0; i < samples; ++i)
        {
            for (int j = 0; j < dimension; ++j)
            {
                x(i, j) = normal(random);
            }
            // Rows carry the label: the loss of a sample is log(1 + exp(-x_i w)).
            x.row(i) *= x.row(i).dot(truth) + normal(random) > 0 ? 1 : -1;
        }
        const MatrixXd covariance = x.transpose() * x / samples;
        // The second derivative of log(1 + exp(-z)) is at most 1/4.
        mu = Eigen::SelfAdjointEigenSolver<MatrixXd>(covariance).eigenvalues().maxCoeff() / 4;
        gamma = 2 * mu;
        optimum = VectorXd::Zero(dimension);
        for (int step = 0; step < 200; ++step)
        {
            optimum -= Gradient(optimum) / gamma;
        }
    }

    /**
     * @param w Model.
     * @param rows Samples.
     * @return the gradient of the mean loss of the samples.
     */
    VectorXd Gradient(const VectorXd& w, const std::vector<int>& rows) const
    {
        VectorXd gradient = VectorXd::Zero(w.size());
        for (int i : rows)
        {
            gradient -= x.row(i).transpose() / (1 + std::exp(x.row(i).dot(w)));
        }
        return gradient / static_cast<double>(rows.size()) + mu * w;
    }

    /**
     * @param w Model.
     * @return the gradient of the global loss.
     */
    VectorXd Gradient(const VectorXd& w) const
    {
        std::vector<int> rows(x.rows());
        std::iota(rows.begin(), rows.end(), 0);
        return Gradient(w, rows);
    }

    MatrixXd x;       //!< Samples by coordinates.
    double mu;        //!< Strong convexity, the factor of the l2 term.
    double gamma;     //!< Smoothness.
    VectorXd optimum; //!< w*.
};

/**
 * Quantize as in the paper's Lemma 3.
 * @param v Vector with all values in [-clip, clip].
 * @param clip C.
 * @param bits b.
 * @param epsilon Same-cell epsilon.
 * @param random Source of the coins.
 * @param [out] distortion Expected squared error.
 * @return the quantized vector.
 */
VectorXd
Quantize(const VectorXd& v,
         double clip,
         uint32_t bits,
         double epsilon,
         FederatedRandom& random,
         double& distortion)
{
    const double cells = std::pow(2.0, bits) - 1;
    const double step = 2 * clip / cells;
    const double nearer = 1 / (1 + std::exp(-epsilon));
    VectorXd quantized(v.size());
    distortion = 0;
    for (int i = 0; i < v.size(); ++i)
    {
        const double cell = std::min(std::floor((v[i] + clip) / step), cells - 1);
        const double low = -clip + cell * step;
        const bool lowIsNearer = v[i] - low <= step / 2;
        const double near = lowIsNearer ? low : low + step;
        const double far = lowIsNearer ? low + step : low;
        quantized[i] = random.Uniform() < nearer ? near : far;
        distortion += nearer * std::pow(near - v[i], 2) + (1 - nearer) * std::pow(far - v[i], 2);
    }
    return quantized;
}

} // namespace

TEST(ConvergenceLemmas, BoundWhatOneRoundOfLogisticRegressionDoes)
{
    const int dimension = 20;
    const int batch = 10;
    const double epsilon = 0.1;
    const int rounds = 1000;
    FederatedRandom random(8);
    boost::random::normal_distribution<double> normal;
    const Regression problem(500, dimension, random);

    ConvergenceBound::Parameters p;
    p.groups = {{5, 2, 2, 1e-4}, {5, 2, 4, 4e-4}};
    p.localSteps = 5;
    p.mu = problem.mu;
    p.gamma = problem.gamma;
    // A sample's gradient is at most as long as the sample; batches are drawn with replacement from
    // the pooled data, so they are unbiased for the global loss.
    p.zeta = problem.x.rowwise().squaredNorm().mean() / batch;
    p.lambda = 1; // what clipping removes is never longer than the update
    p.dimension = dimension;
    p.clip = 0.05;
    p.bias = 0;
    ASSERT_EQ(ConvergenceBound::Check(p), "");
    const ConvergenceBound bound(p);
    const auto first = static_cast<double>(bound.GetFirstRound());
    const double eta = bound.GetLearningRate(first);
    ASSERT_LE(eta, bound.GetLemmaRateLimit());

    for (double radius : {0.01, 1.0, 10.0, 30.0})
    {
        VectorXd start(dimension);
        std::generate(start.data(), start.data() + dimension, [&] { return normal(random); });
        start = problem.optimum + start.normalized() * radius;
        const double error = radius * radius;

        double quantization = 0; // E||w_check - w_bar||^2
        double noise = 0;        // E||w - w_check||^2
        double drift = 0;        // E||w_bar - w*||^2
        double cross = 0;        // E<w_check - w_bar, w_bar - w*>
        double after = 0;        // E||w - w*||^2
        double clipError = 0;    // the least Lambda that these updates obey
        for (int round = 0; round < rounds; ++round)
        {
            VectorXd exact = VectorXd::Zero(dimension);
            VectorXd quantized = VectorXd::Zero(dimension);
            VectorXd received = VectorXd::Zero(dimension);
            double weights = 0;
            for (const auto& group : p.groups)
            {
                // All devices of a group are alike: which of them are selected does not matter.
                for (uint32_t u = 0; u < group.selected; ++u)
                {
                    VectorXd w = start;
                    std::vector<int> rows(batch);
                    for (uint32_t l = 0; l < p.localSteps; ++l)
                    {
                        for (int& row : rows)
                        {
                            row = static_cast<int>(random.Below(problem.x.rows()));
                        }
                        w -= eta * problem.Gradient(w, rows);
                    }
                    const VectorXd v = w - start;
                    const double factor = std::min(1.0, p.clip / v.lpNorm<1>());
                    clipError = std::max(clipError, std::pow(1 - factor, 2));
                    double distortion;
                    const VectorXd q =
                        Quantize(factor * v, p.clip, group.bits, epsilon, random, distortion);
                    VectorXd n(dimension);
                    std::generate(n.data(), n.data() + dimension, [&] { return normal(random); });
                    const double weight = 1 / (distortion + dimension * group.sigma2);
                    weights += weight;
                    exact += weight * v;
                    quantized += weight * q;
                    received += weight * (q + std::sqrt(group.sigma2) * n);
                }
            }
            const VectorXd bar = start + exact / weights;
            const VectorXd check = start + quantized / weights;
            const VectorXd next = start + received / weights;
            quantization += (check - bar).squaredNorm() / rounds;
            noise += (next - check).squaredNorm() / rounds;
            drift += (bar - problem.optimum).squaredNorm() / rounds;
            cross += (check - bar).dot(bar - problem.optimum) / rounds;
            after += (next - problem.optimum).squaredNorm() / rounds;
        }

        // The same bounds with what is known afterwards: the clipping error and the bias.
        auto known = p;
        known.lambda = clipError;
        known.bias = std::max(0.0, cross);
        const ConvergenceBound tight(known);
        const double recursion = tight.GetM1(first) * error + tight.GetM2(first) + tight.GetDelta();
        std::cout << "distance " << radius << ": t_0 " << first << ", eta " << eta
                  << ", least Lambda " << clipError << ", error before " << error << std::endl;
        const auto compare = [radius](const std::string& name, double left, double right)
        {
            std::cout << "  " << name << ": measured " << left << ", bound " << right << ", ratio "
                      << right / left << std::endl;
            ::testing::Test::RecordProperty(name + " at distance " + std::to_string(radius),
                                            std::to_string(left) + " <= " + std::to_string(right));
            EXPECT_LE(left, right) << name;
        };
        compare("Lemma 5 (Lambda = 1)", quantization, bound.BoundQuantization(eta, error));
        compare("Lemma 5 (measured Lambda)", quantization, tight.BoundQuantization(eta, error));
        compare("Lemma 6", noise, bound.BoundNoise());
        compare("Lemma 7", drift, bound.BoundDrift(eta, error));
        compare("recursion (ub5)", after, recursion);
        std::cout << "  Lemma 7 says "
                  << (bound.BoundDrift(eta, error) < error ? "something" : "nothing")
                  << ", the recursion " << (recursion < error ? "something" : "nothing")
                  << std::endl;
    }
}
