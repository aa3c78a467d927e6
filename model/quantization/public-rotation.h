// SPDX-License-Identifier: GPL-2.0-only

#ifndef PUBLIC_ROTATION_H
#define PUBLIC_ROTATION_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The random rotation of all updates of a round, which is public: H D / sqrt(P).
 *
 * D are random signs and H is the Walsh-Hadamard matrix of size P, the smallest power of two that
 * is not below d; an update is padded with zeros (A. T. Suresh et al., "Distributed mean estimation
 * with limited communication", 2017). It keeps norms and inner products. A large coordinate is
 * spread over all P, so that coordinates that are lost on the way take a little of every one of the
 * d, instead of all of some of them. The signs and P do not depend on the data, so the rotation
 * reveals nothing about them.
 *
 * Plain memory: worker threads may use it. The result does not depend on the number of threads.
 */
class PublicRotation
{
  public:
    /** The largest d: messages number coordinates in 32 bits, and P is one of these numbers. */
    static constexpr std::size_t MAX_DIMENSION = std::size_t{1} << 31;

    /**
     * @param seed Public, equal for all devices (LearningTask::GetRotationSeed).
     * @param round The round: each one has signs of its own.
     */
    PublicRotation(uint64_t seed, uint32_t round);

    /**
     * @param dimension d, up to MAX_DIMENSION.
     * @return P, the smallest power of two that is not below d; 0 for 0.
     */
    static std::size_t GetRotatedSize(std::size_t dimension);

    /**
     * Rotate an update.
     * @param [in,out] values d coordinates; then P. If one of them is infinite or NaN, or the norm
     * is too large for floats, a rotated one is infinite or NaN as well.
     */
    void Rotate(std::vector<float>& values) const;

    /**
     * Rotate back.
     * @param [in,out] values P rotated coordinates; then d.
     * @param dimension d.
     */
    void RotateBack(std::vector<float>& values, std::size_t dimension) const;

  private:
    /**
     * Multiply coordinates by the signs.
     * @param factor Of all of them.
     * @param [in,out] values d coordinates.
     */
    void MultiplyBySigns(float factor, std::vector<float>& values) const;

    uint64_t m_seed;  //!< Public seed.
    uint32_t m_round; //!< The round.
};

/**
 * @ingroup federated
 * @param isRotated Whether updates are rotated.
 * @param dimension Size of an update, d; 0: unknown.
 * @return how many coordinates are encoded and sent: d, or P if updates are rotated; 0: unknown.
 */
std::size_t GetEncodedSize(bool isRotated, std::size_t dimension);

} // namespace ns3

#endif // PUBLIC_ROTATION_H
