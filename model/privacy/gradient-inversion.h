// SPDX-License-Identifier: GPL-2.0-only

#ifndef GRADIENT_INVERSION_H
#define GRADIENT_INVERSION_H

#include "ns3/federated-random.h"
#include "ns3/learning-model.h"
#include "ns3/model-kernel.h"
#include "ns3/object.h"
#include "ns3/sample-shape.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief What an attacker knows of one device in one round.
 *
 * After one step on one sample the update is v = -eta * clip * G, with G the gradient of that
 * sample's loss at w. After L steps, or steps on batches, -v / (eta * L * clip) is a mean gradient
 * over samples and over slightly different w; the attacks take it for the gradient of one sample at
 * w and find the one image that explains it best.
 */
struct GradientObservation
{
    std::vector<float> model;  //!< w, which the device started from, d.
    std::vector<float> update; //!< v as received, d: clipped, quantized, decoded, noisy.
    /**
     * Which coordinates of the update were captured; the others are left out of every objective.
     * Empty: all. Coordinates of the update that are infinite or NaN never count as captured.
     */
    std::vector<bool> captured;
    double learningRate = 0.1; //!< eta.
    double clipFactor = 1;     //!< What clipping multiplied the update with, in (0, 1].
    uint32_t steps = 1;        //!< L, the local steps that the update sums up.
};

/**
 * @ingroup federated
 * @brief What an attack found.
 */
struct InversionResult
{
    std::vector<double> image;    //!< Inputs of the sample, row by row, all finite, not clipped.
    uint8_t label = 0;            //!< Its class.
    double objective = 0;         //!< What the attack minimizes, at the image; 0 if in closed form.
    uint32_t outerIterations = 0; //!< Begun; 0 if in closed form.
    uint32_t innerIterations = 0; //!< Steps of the optimizer in all of them.
    uint64_t evaluations = 0;     //!< Of the objective and its gradient.
    bool diverged = false; //!< It met infinity or NaN; the image is the last finite one before.
};

/**
 * @ingroup federated
 * @brief Rebuilds a training sample from the update that it caused.
 *
 * A strategy like a Quantizer: const, without state between calls and without touching a reference
 * count, so that worker threads may call it through a raw pointer. Numerics only.
 */
class GradientInversion : public Object
{
  public:
    /**
     * Looks at an attack while it works: called with the start (iteration 0) and after each outer
     * iteration with what was found so far; never by an attack in closed form.
     */
    using Watcher = std::function<void(uint32_t iteration, const std::vector<double>& image)>;

    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * @param model A model.
     * @param shape Size of an image and number of classes.
     * @param [out] error On failure, one sentence that says what the model lacks.
     * @return whether this attack works on such a model.
     */
    bool IsApplicable(const LearningModel& model,
                      const SampleShape& shape,
                      std::string& error) const;

    /**
     * Attack one update.
     * @param observation What is known; sizes must fit the model, values may be anything.
     * @param kernel Of a model for which IsApplicable() holds; for the calling thread alone.
     * @param shape Size of an image and number of classes.
     * @param random Stream for the start.
     * @param watcher Looks at the iterations, if not empty.
     * @return what was found.
     */
    InversionResult Reconstruct(const GradientObservation& observation,
                                ModelKernel<double>& kernel,
                                const SampleShape& shape,
                                FederatedRandom& random,
                                const Watcher& watcher = nullptr) const;

  protected:
    /** The observation as the attacks use it, in double. */
    struct Target
    {
        std::vector<double> model;    //!< w, d.
        std::vector<double> gradient; //!< -v / (eta L clip), d; 0 where nothing was captured.
        std::vector<double> known;    //!< 1 where captured, else 0; d.
    };

    /**
     * Infer the label of one sample: the gradient of the score's weights of class k is
     * (p_k - y_k) times the inputs of the last layer. These are not negative after a sigmoid or a
     * ReLU, so the sum over a class's weights is negative for the label alone (iDLG; Zhao, Mopuri
     * and Bilen 2020).
     * @param target The observed gradient.
     * @param kernel The model; its last layer is fully connected.
     * @return the class whose captured weights have the least mean gradient.
     */
    static uint8_t InferLabel(const Target& target, const ModelKernel<double>& kernel);

    /**
     * @param kernel A kernel of a model.
     * @return what InferLabel needs and the model lacks, as DoFindLack.
     */
    static std::string FindLackForLabel(const ModelKernel<double>& kernel);

    /**
     * @param kernel A kernel of a model.
     * @return what a MixedDerivativeKernel has and the model lacks, as DoFindLack.
     */
    static std::string FindLackForDerivatives(const ModelKernel<double>& kernel);

  private:
    /**
     * @param kernel A kernel of a model.
     * @return what the attack needs and the model lacks, as words that follow "needs a model";
     * empty if nothing.
     */
    virtual std::string DoFindLack(const ModelKernel<double>& kernel) const = 0;

    /**
     * Attack one update.
     * @param target What is known.
     * @param kernel The model.
     * @param shape Size of an image and number of classes.
     * @param random Stream for the start.
     * @param watcher Looks at the iterations, if not empty.
     * @return what was found.
     */
    virtual InversionResult DoReconstruct(const Target& target,
                                          ModelKernel<double>& kernel,
                                          const SampleShape& shape,
                                          FederatedRandom& random,
                                          const Watcher& watcher) const = 0;
};

} // namespace ns3

#endif // GRADIENT_INVERSION_H
