// SPDX-License-Identifier: GPL-2.0-only

#ifndef PRIVACY_AUDIT_H
#define PRIVACY_AUDIT_H

#include "ns3/federated-random.h"
#include "ns3/ptr.h"
#include "ns3/update-preparation.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief What an audit found.
 */
struct PrivacyAuditResult
{
    /** Result of the audit of a claim. */
    enum Verdict
    {
        NO_CLAIM,      //!< Nothing was claimed that could be falsified.
        NOT_FALSIFIED, //!< These inputs do not contradict the claim.
        FALSIFIED,     //!< The real epsilon or rho of some pair is above the claimed one.
    };

    /**
     * @param verdict A verdict.
     * @return its name: no-claim, not-falsified, falsified.
     */
    static const char* GetName(Verdict verdict);

    Verdict verdict = NO_CLAIM; //!< Result of the audit of a claim.
    double claimed;             //!< The epsilon claimed for the pair that was bounded; NaN: none.
    double exact; //!< The exact privacy loss of the pair of inputs where it is furthest above what
                  //!< is claimed; may be infinite; NaN: not known.
    double lower; //!< The real epsilon is above this, with the confidence asked for.
    std::size_t first;  //!< Index of the input under which the event is the more likely one.
    std::size_t second; //!< Index of the other input of the pair that was bounded.
    double claimedRho;  //!< The rho claimed for any two updates; NaN: none.
    double exactRho; //!< The exact rho of the pair of inputs where it is largest; may be infinite;
                     //!< NaN: not known.
    double lowerRho; //!< The real rho is above this, with the confidence asked for; NaN if none
                     //!< is claimed.
};

/**
 * @ingroup federated
 * @brief Tries to falsify what is claimed about the privacy of a device.
 *
 * It prepares updates with the code that a device runs (update-preparation.h), and looks at what an
 * observer sees: the header and the payload. The claim is that of the quantizer, read as
 * differential privacy (also where the quantizer claims a same-cell epsilon only) and as if the
 * interval were public: so it is understood by a user who overlooks that the header has the
 * interval.
 *
 * Samples of every input are drawn. On the first half of them the audit searches the pair of inputs
 * and the event whose probabilities differ most: sets of messages, ordered by how much likelier
 * they are under one input; and, where messages hardly repeat, such as floats, half-spaces of the
 * decoded update. On the second half the one event that was chosen is counted, and the ratio of its
 * probabilities has the lower confidence bound ln(p_low/q_high), from the exact binomial bounds of
 * Clopper and Pearson: with probability 1 - alpha it is not above the real epsilon.
 *
 * Where the quantizer knows the probabilities of what it sends, the loss is computed too, for the
 * same pairs. It is infinite where headers differ, because they are not random.
 *
 * A claim of zero-concentrated differential privacy for whole updates is audited in the same way:
 * an event with probabilities p and q proves a rho of at least the largest D_alpha(p, q)/alpha over
 * the orders alpha, D_alpha being the Renyi divergence of the two coins.
 *
 * Where floats are sent, the audit asks the quantizer for each of them whether the other input
 * could have sent it (Quantizer::CanSend). One float that it cannot have sent identifies the input:
 * the loss is infinite.
 */
class PrivacyAudit
{
  public:
    /** The device. */
    struct Device
    {
        Ptr<const Quantizer> quantizer;       //!< Its quantizer.
        Ptr<const IntervalRule> intervalRule; //!< Its intervals.
        ClipNorm clipNorm = CLIP_NONE;        //!< The norm that it clips.
        double clipBound = 0;                 //!< C, if it clips.
        unsigned bits = 2;                    //!< Its resolution.
        bool reportDistortion = false;        //!< Whether the header has the exact distortion.
        std::vector<std::size_t> layerEnds; //!< One past the last coordinate of each layer; empty:
                                            //!< one layer.
    };

    /** An update of the device, before it is clipped. */
    using Input = std::vector<float>;

    /** @param device The device. */
    explicit PrivacyAudit(const Device& device);

    /**
     * @param hits How often an event was seen under one input.
     * @param otherHits How often under the other one.
     * @param trials How many samples each has, at least 1.
     * @param alpha Probability of error, above 0.
     * @return the lower confidence bound on the epsilon of which the event is evidence, at least 0.
     */
    static double GetLowerBound(uint64_t hits, uint64_t otherHits, uint64_t trials, double alpha);

    /**
     * @param hits How often an event was seen under one input.
     * @param otherHits How often under the other one.
     * @param trials How many samples each has, at least 1.
     * @param alpha Probability of error, above 0.
     * @return the lower confidence bound on rho of which the event is evidence, at least 0.
     */
    static double GetLowerRho(uint64_t hits, uint64_t otherHits, uint64_t trials, double alpha);

    /**
     * @param input An update.
     * @return what the quantizer claims, as if the interval of this update were public.
     */
    PrivacyClaim GetClaim(const Input& input) const;

    /**
     * @param input An update.
     * @param other Another one, of the same size.
     * @return the exact privacy loss between them, the larger one of both directions; infinite
     * where a message is possible for one of them only, NaN if it is not known.
     */
    double GetExactLoss(const Input& input, const Input& other) const;

    /**
     * @param input An update.
     * @param other Another one, of the same size.
     * @return the largest Renyi divergence over its order between them, the larger one of both
     * directions: the least rho that the pair allows. Infinite where a message is possible for one
     * of them only, NaN if it is not known. For quantizers that draw coordinates independently.
     */
    double GetExactRho(const Input& input, const Input& other) const;

    /**
     * Audit the device.
     * @param inputs Updates of one size, at least two: the pairs to search.
     * @param samples Samples of each input, at least 2; half of them are for the search.
     * @param alpha Probability of error. A suite of audits divides its own by their number.
     * @param random Stream for the device's random words.
     * @return what was found.
     */
    PrivacyAuditResult Run(const std::vector<Input>& inputs,
                           std::size_t samples,
                           double alpha,
                           FederatedRandom& random) const;

  private:
    /** What the device does with an input before it draws random words. */
    struct Prepared
    {
        Input clipped;         //!< The clipped update.
        PreparedUpdate update; //!< What describes it, without a payload.
        std::string header;    //!< The header of the update.
    };

    /** What was seen of an input. */
    struct Samples
    {
        /**
         * @param sample A sample.
         * @param normal Normal of a half-space, as many numbers as the update has coordinates.
         * @return normal * x for the decoded update x of the sample.
         */
        double GetScore(std::size_t sample, const std::vector<double>& normal) const;

        std::vector<uint32_t> messages; //!< Number of each sample's message, equal for equal ones.
        std::vector<float> decoded;     //!< The decoded updates, one after the other.
    };

    /** Two inputs between which an event is searched. */
    struct Pair
    {
        /**
         * @param hits How often an event was seen under the first input.
         * @param otherHits How often under the second one.
         * @return by how much the epsilon or rho that the event proves is above what is claimed.
         */
        double GetMargin(uint64_t hits, uint64_t otherHits) const;

        const Samples& first;  //!< Samples of the input under which the event is the more likely.
        const Samples& second; //!< Samples of the other one.
        std::size_t half;      //!< How many samples of each are for the search.
        double alpha;          //!< Probability of error.
        bool byRho;            //!< Whether rho is audited instead of epsilon.
        double claimed;        //!< What is claimed for the pair, 0 if nothing is.
    };

    /** What kind of set of messages an event is. */
    enum class Event
    {
        MESSAGES,   //!< Some messages.
        HALF_SPACE, //!< Those whose decoded updates are in a half-space.
        IMPOSSIBLE, //!< Those that cannot have been sent for the second input.
    };

    /** What the search chose. */
    struct Choice
    {
        std::size_t first = 0;         //!< The input under which the event is the more likely one.
        std::size_t second = 1;        //!< The other input.
        Event event = Event::MESSAGES; //!< Which kind of event it is.
        std::vector<bool> messages;    //!< The messages of the event, by number.
        std::vector<double> normal;    //!< Half-space: normal * x >= threshold.
        double threshold = 0;          //!< Of the half-space.
        double margin;                 //!< Its bound on the first half, less what is claimed.
    };

    /** Different messages, and the number of each. */
    using Numbers = std::unordered_map<std::string, uint32_t>;

    /** @return whether the payload has floats. */
    bool SendsFloats() const;

    /**
     * @param input An update.
     * @return what the device does with it.
     */
    Prepared Prepare(const Input& input) const;

    /**
     * @param input What the device does with an update.
     * @param count How often it sends it.
     * @param random Stream for its random words.
     * @param [in,out] numbers The messages seen so far.
     * @return what was seen.
     */
    Samples Draw(const Prepared& input,
                 std::size_t count,
                 FederatedRandom& random,
                 Numbers& numbers) const;

    /**
     * @param claim What is claimed.
     * @param a One clipped update.
     * @param b Another one.
     * @return the epsilon that is claimed for the pair; NaN if none is.
     */
    static double GetClaimedEpsilon(const PrivacyClaim& claim, const Input& a, const Input& b);

    /**
     * @param claim What is claimed.
     * @return the rho that is claimed for any two whole updates; NaN if none is.
     */
    static double GetClaimedRho(const PrivacyClaim& claim);

    /**
     * @param samples Samples of an input.
     * @param choice An event.
     * @param second What the device does with the second input of the event.
     * @param begin First sample.
     * @param end One past the last.
     * @return how many of the samples are in the event.
     */
    uint64_t Count(const Samples& samples,
                   const Choice& choice,
                   const Prepared& second,
                   std::size_t begin,
                   std::size_t end) const;

    /**
     * @param samples Samples of an input.
     * @param sample One of them.
     * @param input What the device does with an input.
     * @return whether the sample can have been sent for the input, as far as is known.
     */
    bool CanSend(const Samples& samples, std::size_t sample, const Prepared& input) const;

    /**
     * Look for a set of messages that is likelier under one input than under another.
     * @param pair The inputs.
     * @param kinds How many different messages there are.
     * @param [in,out] choice The margin to improve on; the event, if there is a better one.
     */
    static void SearchMessages(const Pair& pair, std::size_t kinds, Choice& choice);

    /**
     * Look for a half-space across the line between the inputs, with thresholds at quantiles of
     * what was seen.
     * @param pair The inputs.
     * @param [in,out] choice The normal, and the margin to improve on; the event, if there is a
     * better one.
     */
    static void SearchHalfSpaces(const Pair& pair, Choice& choice);

    /**
     * Look for the pair of inputs and the event that contradict the claim most.
     * @param claim What is claimed.
     * @param prepared What the device does with each input.
     * @param seen What was seen of each of them; the first half is looked at.
     * @param kinds How many different messages there are.
     * @param alpha Probability of error.
     * @param byRho Whether rho is audited instead of epsilon.
     * @param seesImpossible Whether messages were seen that identify an input.
     * @return the pair and the event.
     */
    Choice Search(const PrivacyClaim& claim,
                  const std::vector<Prepared>& prepared,
                  const std::vector<Samples>& seen,
                  std::size_t kinds,
                  double alpha,
                  bool byRho,
                  bool seesImpossible) const;

    /**
     * @param inputs The inputs.
     * @param prepared What the device does with each of them.
     * @return the largest exact rho of a pair; NaN if one is not known and none is infinite.
     */
    double GetLargestRho(const std::vector<Input>& inputs,
                         const std::vector<Prepared>& prepared) const;

    /**
     * @param prepared What the device does with each input.
     * @param seen What was seen of each of them.
     * @return whether a message was seen that cannot have been sent for another input.
     */
    bool SeesImpossible(const std::vector<Prepared>& prepared,
                        const std::vector<Samples>& seen) const;

    /**
     * Compare the exact losses of all pairs of inputs with what is claimed.
     * @param claim What is claimed.
     * @param inputs The inputs.
     * @param prepared What the device does with each of them.
     * @param [out] exact The loss that is furthest above what is claimed; NaN if a loss is not
     * known and none is infinite.
     * @return whether a loss is above what is claimed.
     */
    bool ExceedsClaim(const PrivacyClaim& claim,
                      const std::vector<Input>& inputs,
                      const std::vector<Prepared>& prepared,
                      double& exact) const;

    Device m_device;           //!< The device.
    UpdateSettings m_settings; //!< How it prepares its updates; points to its parts.
};

} // namespace ns3

#endif // PRIVACY_AUDIT_H
