// SPDX-License-Identifier: GPL-2.0-only

#include "preparation-fixture.h"
#include "running-mean.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/fixed-interval.h"
#include "ns3/identity-quantizer.h"
#include "ns3/no-link-noise.h"
#include "ns3/object-factory.h"
#include "ns3/public-rotation.h"
#include "ns3/uniform-fusion.h"
#include "ns3/update-fuser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <functional>
#include <limits>
#include <list>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

using Values = std::vector<float>;

const std::vector<std::size_t> SIZES{1, 2, 3, 4, 5, 63, 64, 65, 128, 1000, 4096, 4097, 5000};

/** @return values in plus or minus a half. */
Values
MakeValues(std::size_t count, uint32_t seed = 1)
{
    FederatedRandom random(seed);
    Values values(count);
    for (float& value : values)
    {
        value = static_cast<float>(random.Uniform() - 0.5);
    }
    return values;
}

double
GetProduct(const Values& a, const Values& b)
{
    return std::inner_product(a.begin(),
                              a.end(),
                              b.begin(),
                              0.0,
                              std::plus<>(),
                              [](double x, double y) { return x * y; });
}

Values
Rotate(const PublicRotation& rotation, Values values)
{
    rotation.Rotate(values);
    return values;
}

/** @return ||a - b||^2. */
double
GetError(const Values& a, const Values& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        sum += std::pow(double{a[i]} - double{b[i]}, 2);
    }
    return sum;
}

} // namespace

TEST(PublicRotation, HasTheSizeOfTheNextPowerOfTwo)
{
    const std::size_t large = std::size_t{1} << 20;
    const std::vector<std::pair<std::size_t, std::size_t>> cases{
        {0, 0},
        {1, 1},
        {2, 2},
        {3, 4},
        {4, 4},
        {5, 8},
        {159010, 262144},
        {large, large},
        {large + 1, 2 * large},
        {PublicRotation::MAX_DIMENSION, PublicRotation::MAX_DIMENSION},
    };
    for (const auto& [dimension, size] : cases)
    {
        EXPECT_EQ(PublicRotation::GetRotatedSize(dimension), size) << dimension;
        EXPECT_EQ(GetEncodedSize(true, dimension), size) << dimension;
        EXPECT_EQ(GetEncodedSize(false, dimension), dimension);
    }
    EXPECT_LE(PublicRotation::MAX_DIMENSION, std::numeric_limits<uint32_t>::max());
}

TEST(PublicRotation, IsTheWalshHadamardMatrixTimesRandomSigns)
{
    for (std::size_t d : SIZES)
    {
        SCOPED_TRACE(d);
        const Values values = MakeValues(d);
        FederatedRandom random(9, FederatedRandom::ROTATION, 0, 4);
        std::vector<uint32_t> words((d + 31) / 32);
        random.Fill(words.data(), words.size());
        const Values rotated = Rotate(PublicRotation(9, 4), values);
        const std::size_t size = rotated.size();
        ASSERT_EQ(size, PublicRotation::GetRotatedSize(d));
        for (std::size_t i = 0; i < size; i += 1 + size / 97) // by definition, in doubles
        {
            double sum = 0;
            for (std::size_t j = 0; j < d; ++j)
            {
                const bool sign = (words[j / 32] >> j % 32 & 1U) != 0;
                const bool entry = std::bitset<64>(i & j).count() % 2 == 1;
                sum += sign == entry ? values[j] : -values[j];
            }
            ASSERT_NEAR(rotated[i], sum / std::sqrt(static_cast<double>(size)), 1e-6) << i;
        }
    }
}

TEST(PublicRotation, KeepsNormsAndInnerProducts)
{
    for (std::size_t d : SIZES)
    {
        const PublicRotation rotation(1, static_cast<uint32_t>(d));
        const Values a = MakeValues(d, 1);
        const Values b = MakeValues(d, 2);
        const double norms = std::sqrt(GetProduct(a, a) * GetProduct(b, b));
        const Values rotatedA = Rotate(rotation, a);
        const Values rotatedB = Rotate(rotation, b);
        EXPECT_NEAR(GetProduct(rotatedA, rotatedA), GetProduct(a, a), 1e-6 * GetProduct(a, a)) << d;
        EXPECT_NEAR(GetProduct(rotatedA, rotatedB), GetProduct(a, b), 1e-6 * norms) << d;
    }
}

TEST(PublicRotation, IsUndoneByRotatingBack)
{
    std::vector<std::size_t> sizes = SIZES;
    sizes.push_back(159010);
    for (std::size_t d : sizes)
    {
        const PublicRotation rotation(3, 7);
        const Values values = MakeValues(d);
        Values back = Rotate(rotation, values);
        rotation.RotateBack(back, d);
        ASSERT_EQ(back.size(), d);
        for (std::size_t i = 0; i < d; ++i)
        {
            ASSERT_NEAR(back[i], values[i], 1e-6) << i << " of " << d;
        }
    }
}

TEST(PublicRotation, IsEqualForAllDevicesOfARoundAndAnotherOneInOtherRounds)
{
    const std::size_t d = 10000;
    const Values ones(d, 1);
    const Values rotated = Rotate(PublicRotation(5, 1), ones);
    EXPECT_EQ(Rotate(PublicRotation(5, 1), ones), rotated);
    // The product is a sum of d independent signs: beyond 5 sqrt(d) once in 10^6.
    for (const PublicRotation& other :
         {PublicRotation(5, 2), PublicRotation(5, 0), PublicRotation(6, 1)})
    {
        EXPECT_LT(std::abs(GetProduct(Rotate(other, ones), rotated)), 5 * std::sqrt(d));
    }
}

TEST(PublicRotation, SpreadsLargeCoordinatesOverAll)
{
    Values spike(1000);
    spike[123] = 32;
    for (float value : Rotate(PublicRotation(1, 1), spike))
    {
        EXPECT_EQ(std::abs(value), 1); // 32 over sqrt(1024)
    }
    // Hoeffding: a coordinate exceeds t with probability 2 exp(-t^2 P / (2 ||v||^2)) at most; all
    // of 1024 stay below this limit but once in 10^6.
    Values values = MakeValues(1000);
    std::fill(values.begin() + 10, values.begin() + 900, 0.0F);
    values[3] = 40;
    values[950] = -30;
    const double limit =
        std::sqrt(2 * GetProduct(values, values) / 1024 * std::log(2 * 1024 * 1e6));
    for (float value : Rotate(PublicRotation(1, 2), values))
    {
        EXPECT_LT(std::abs(value), limit);
    }
}

TEST(PublicRotation, ShowsThatACoordinateIsNotFinite)
{
    const float most = std::numeric_limits<float>::max();
    for (float bad : {std::numeric_limits<float>::infinity(),
                      -std::numeric_limits<float>::infinity(),
                      std::numeric_limits<float>::quiet_NaN()})
    {
        for (std::size_t d : {1, 3, 100, 5000})
        {
            Values values = MakeValues(d);
            values[d / 2] = bad;
            values = Rotate(PublicRotation(1, 1), values);
            EXPECT_FALSE(IsFiniteUpdate(values.data(), values.size())) << bad << ' ' << d;
        }
    }
    Values largest(5000);
    largest[77] = most;
    const PublicRotation rotation(1, 1);
    largest = Rotate(rotation, largest);
    EXPECT_TRUE(IsFiniteUpdate(largest.data(), largest.size())) << "its norm is finite";
    rotation.RotateBack(largest, 5000);
    EXPECT_NEAR(largest[77] / most, 1, 1e-6);
    const Values all = Rotate(rotation, Values(5000, most));
    EXPECT_FALSE(IsFiniteUpdate(all.data(), all.size())) << "its norm is no float";
}

namespace
{

/** Settings that rotate. */
class RotatedPreparation : public PreparationFixture
{
  protected:
    /** @copydoc PreparationFixture::Make */
    UpdateSettings Make(const std::string& quantizer,
                        const std::string& interval,
                        ClipNorm clipNorm = CLIP_L1)
    {
        UpdateSettings settings = PreparationFixture::Make(quantizer, interval, clipNorm);
        settings.rotation = m_rotation;
        return settings;
    }

    const PublicRotation m_rotation{11, 3}; //!< Of all settings.
};

} // namespace

TEST_F(RotatedPreparation, RotatesThenClipsThenPlacesThenEncodes)
{
    for (const std::string& name : GetQuantizers())
    {
        for (ClipNorm norm : {CLIP_NONE, CLIP_L1, CLIP_L2})
        {
            SCOPED_TRACE(name + " with norm " + std::to_string(norm));
            UpdateSettings settings = Make(name, "MinMaxInterval", norm);
            settings.reportDistortion = true;
            ASSERT_EQ(GetEncodedSize(settings, 1001), 1024U);
            auto values = MakeValues(1001);
            FederatedRandom coins(7);
            PreparedUpdate result;
            PrepareUpdate(settings, {400, 1001}, coins, values, result);

            auto expected = Rotate(m_rotation, MakeValues(1001));
            EXPECT_EQ(result.clipFactor, ClipUpdate(norm, 2, expected.data(), 1024));
            EXPECT_EQ(values, expected);
            const auto intervals = m_rule->GetIntervals(expected.data(), {1024});
            ASSERT_EQ(result.intervals.size(), 1U);
            EXPECT_EQ(result.intervals[0].end, 1024U);
            EXPECT_EQ(result.intervals[0].low, intervals[0].low);
            EXPECT_EQ(result.intervals[0].high, intervals[0].high);
            std::vector<uint8_t> payload(m_quantizer->GetPayloadSize(1024, m_bits));
            FederatedRandom same(7);
            ASSERT_TRUE(
                m_quantizer->Encode(expected.data(), intervals, m_bits, same, payload.data()));
            EXPECT_EQ(result.payload, payload);
            EXPECT_EQ(result.distortion,
                      m_quantizer->GetDistortion(expected.data(), intervals, m_bits) / 1024);
        }
    }
}

TEST_F(RotatedPreparation, ClipsWhatIsEncodedWhateverRotationRounds)
{
    for (ClipNorm norm : {CLIP_L1, CLIP_L2})
    {
        for (uint32_t seed = 0; seed < 50; ++seed)
        {
            UpdateSettings settings = Make("IdentityQuantizer", "FixedInterval", norm);
            settings.rotation = PublicRotation(seed, 1);
            auto values = MakeValues(500 + seed, seed);
            FederatedRandom coins(1);
            PreparedUpdate result;
            PrepareUpdate(settings, {values.size()}, coins, values, result);
            ASSERT_TRUE(result.valid);
            EXPECT_LT(result.clipFactor, 1);
            Values sent(512 << (seed > 12 ? 1 : 0));
            ASSERT_EQ(values.size(), sent.size());
            DecodePrepared(settings, result, sent.data());
            EXPECT_LE(GetUpdateNorm(norm, sent.data(), sent.size()), 2 * (1 + 1e-6)) << seed;
        }
    }
}

TEST_F(RotatedPreparation, GivesTheUpdateBack)
{
    const UpdateSettings settings = Make("IdentityQuantizer", "MinMaxInterval", CLIP_NONE);
    const auto update = MakeValues(1001);
    auto values = update;
    FederatedRandom coins(7);
    PreparedUpdate result;
    PrepareUpdate(settings, {1001}, coins, values, result);
    EXPECT_LT(GetError(RecoverUpdate(settings, result, 1001), update), 1e-9);
    UpdateSettings plain = settings;
    plain.rotation = std::nullopt;
    values = update;
    PrepareUpdate(plain, {1001}, coins, values, result);
    EXPECT_EQ(RecoverUpdate(plain, result, 1001), update);
}

TEST_F(RotatedPreparation, RejectsWhatIsNotFinite)
{
    const UpdateSettings settings = Make("DpStochasticQuantizer", "FixedInterval");
    auto values = MakeValues(100);
    values[3] = INFINITY;
    FederatedRandom coins(7);
    PreparedUpdate result;
    PrepareUpdate(settings, {100}, coins, values, result);
    EXPECT_FALSE(result.valid);
    EXPECT_TRUE(result.payload.empty());
    EXPECT_EQ(result.clipFactor, 0);
}

TEST_F(RotatedPreparation, ClaimsForTheCoordinatesThatAreEncoded)
{
    for (const std::string& name : GetQuantizers())
    {
        for (ClipNorm norm : {CLIP_NONE, CLIP_L1, CLIP_L2})
        {
            SCOPED_TRACE(name + " with norm " + std::to_string(norm));
            const UpdateSettings settings = Make(name, "FixedInterval", norm);
            const PrivacyClaim claim = GetPrivacyClaim(settings, 1001);
            const PrivacyClaim own =
                m_quantizer->GetPrivacyClaim(m_rule->GetPrivacyContext(norm, 2, m_bits, 1024));
            EXPECT_EQ(claim.kind, own.kind);
            EXPECT_EQ(claim.epsilon, own.epsilon);
            EXPECT_EQ(claim.rho, own.rho);
            EXPECT_EQ(claim.updateRho, own.updateRho);
            EXPECT_EQ(claim.tightRho, own.tightRho);
            const PrivacyClaim unknown = GetPrivacyClaim(settings, 0);
            EXPECT_EQ(
                unknown.kind,
                m_quantizer->GetPrivacyClaim(m_rule->GetPrivacyContext(norm, 2, m_bits)).kind);
        }
    }
}

TEST_F(RotatedPreparation, HasNoLargerPrivacyLossThanItClaims)
{
    for (const char* name :
         {"LaplaceQuantizer", "RandomizedResponseQuantizer", "RandomCoordinatesQuantizer"})
    {
        SCOPED_TRACE(name);
        const UpdateSettings settings = Make(name, "FixedInterval", CLIP_L1);
        const PrivacyClaim claim = GetPrivacyClaim(settings, 60);
        ASSERT_EQ(claim.kind, PrivacyClaim::TRUE_EPSILON);
        const double claimed =
            claim.epsilon * (claim.scope == PrivacyClaim::COORDINATE
                                 ? static_cast<double>(GetEncodedSize(settings, 60))
                                 : 1);
        double largest = 0;
        for (uint32_t seed = 1; seed < 20; ++seed)
        {
            // An update and its opposite, which the clip leaves as far apart as it can.
            auto one = MakeValues(60, seed);
            one[seed] = 100;
            auto other = one;
            std::transform(other.begin(), other.end(), other.begin(), std::negate<>());
            PreparedUpdate result;
            PreparedUpdate opposite;
            ClipAndPlace(settings, {60}, one, result);
            ClipAndPlace(settings, {60}, other, opposite);
            ASSERT_TRUE(result.valid && opposite.valid);
            largest = std::max(
                largest,
                m_quantizer->GetPrivacyLoss(one.data(), other.data(), result.intervals, m_bits));
        }
        EXPECT_LE(largest, claimed * (1 + 1e-5));
        EXPECT_GT(largest, 0);
    }
}

TEST_F(RotatedPreparation, RefusesWhatCannotBeRotated)
{
    std::string error;
    UpdateSettings settings = Make("DpStochasticQuantizer", "MinMaxInterval");
    EXPECT_TRUE(CheckUpdateSettings(settings, PublicRotation::MAX_DIMENSION, error)) << error;
    EXPECT_FALSE(CheckUpdateSettings(settings, PublicRotation::MAX_DIMENSION + 1, error));
    EXPECT_EQ(error,
              "Rotation: the model has 2147483649 parameters, but at most 2^31 can be rotated.");
    m_rule->SetAttribute("PerLayer", BooleanValue(true));
    EXPECT_FALSE(CheckUpdateSettings(settings, 10, error));
    EXPECT_EQ(error, "ns3::MinMaxInterval: PerLayer is set, but a rotated update has no layers.");
    settings.rotation = std::nullopt;
    EXPECT_TRUE(CheckUpdateSettings(settings, PublicRotation::MAX_DIMENSION + 1, error)) << error;
    EXPECT_TRUE(CheckRotation(nullptr, 10, error)) << "a center may accept any interval";
}

namespace
{

/** Devices send updates in fragments, of which a share is lost; the center fuses the rest. */
class LossyFusion
{
  public:
    static constexpr std::size_t FRAGMENT = 64; // coordinates of a fragment

    explicit LossyFusion(Ptr<Quantizer> quantizer)
        : m_quantizer(quantizer)
    {
        m_rules.quantizer = PeekPointer(m_quantizer);
        m_rules.fusionRule = PeekPointer(m_fusionRule);
        m_rules.noise = PeekPointer(m_noise);
    }

    /** Set the rotation of updates and of their sum; none: they are not rotated. */
    void SetRotation(const std::optional<PublicRotation>& rotation)
    {
        m_rules.rotation = rotation;
    }

    /**
     * Send an update.
     * @param update The update.
     * @param coins Of the quantizer.
     * @param isLost Called for each fragment.
     * @return D, its expected squared error where nothing is lost, as it is encoded.
     */
    template <typename IsLost>
    double Send(Values update, FederatedRandom& coins, IsLost isLost)
    {
        const std::size_t d = update.size();
        UpdateSettings settings{
            CLIP_NONE, 0, PeekPointer(m_interval), m_rules.quantizer, 4, true, m_rules.rotation};
        PreparedUpdate& prepared = m_prepared.emplace_back();
        PrepareUpdate(settings, {d}, coins, update, prepared);
        EXPECT_TRUE(prepared.valid);
        FuserInput input;
        input.device = static_cast<uint32_t>(m_inputs.size());
        input.bits = 4;
        input.packed.dimension = update.size();
        input.packed.wireBits = prepared.wireBits;
        input.packed.payload = prepared.payload.data();
        input.packed.intervals = prepared.intervals;
        for (std::size_t begin = 0; begin < update.size(); begin += FRAGMENT)
        {
            if (!isLost(begin / FRAGMENT))
            {
                input.packed.ranges.push_back({begin, std::min(begin + FRAGMENT, update.size())});
            }
        }
        m_inputs.push_back(input);
        return prepared.distortion * static_cast<double>(update.size());
    }

    /** @return the sum of what was received, by a model of zeros. */
    FusedModel Fuse(std::size_t dimension)
    {
        FusedModel fused = UpdateFuser(m_rules).Fuse(Values(dimension), m_inputs, 1);
        if (fused.skipped)
        {
            fused.model.assign(dimension, 0); // nothing was received
        }
        m_inputs.clear();
        m_prepared.clear();
        return fused;
    }

    /** Send an update and fuse it. @return ||received - sent||^2 */
    double GetError(const Values& update, double lost, FederatedRandom& random, double& distortion)
    {
        distortion = Send(update, random, [&](std::size_t) { return random.Uniform() < lost; });
        return ::GetError(Fuse(update.size()).model, update);
    }

  private:
    Ptr<Quantizer> m_quantizer;
    Ptr<IntervalRule> m_interval =
        CreateObjectWithAttributes<FixedInterval>("Low", DoubleValue(-4), "High", DoubleValue(4));
    Ptr<FusionRule> m_fusionRule = CreateObject<UniformFusion>();
    Ptr<LinkNoise> m_noise = CreateObject<NoLinkNoise>();
    UpdateFuser::Rules m_rules;
    std::vector<FuserInput> m_inputs;
    std::list<PreparedUpdate> m_prepared; // whose payloads do not move
};

/** @return an update whose last tenth has most of its norm. */
Values
MakeUneven(std::size_t count, uint32_t seed = 1)
{
    Values values = MakeValues(count, seed);
    std::for_each(values.end() - static_cast<std::ptrdiff_t>(count / 10),
                  values.end(),
                  [](float& value) { value *= 10; });
    return values;
}

const double LOST = 0.3;

} // namespace

TEST(RotatedFusion, LosesTheShareOfTheNormThatFragmentsLose)
{
    // E ||received - v||^2 = f ||v||^2 + (1 - f) D for d = P. In padded updates the error spreads
    // over P coordinates, of which d are kept: (f^2 + f (1 - f) d/P) ||v||^2 + (1 - f) D d/P,
    // exactly so if the fragments are aligned as here.
    for (std::size_t d : {1024, 640})
    {
        for (const char* name : {"IdentityQuantizer", "UnbiasedStochasticQuantizer"})
        {
            SCOPED_TRACE(testing::Message() << name << ' ' << d);
            const Values update = MakeUneven(d);
            const double square = GetProduct(update, update);
            const double kept = static_cast<double>(d) / 1024;
            LossyFusion fusion(ObjectFactory(std::string("ns3::") + name).Create<Quantizer>());
            FederatedRandom random(1);
            RunningMean excess;
            RunningMean lost;
            for (uint32_t round = 1; round <= 1000; ++round)
            {
                fusion.SetRotation(PublicRotation(1, round));
                double distortion = 0;
                const double error = fusion.GetError(update, LOST, random, distortion);
                lost.Add(error / square);
                excess.Add(error - (1 - LOST) * distortion * kept -
                           (LOST * LOST + LOST * (1 - LOST) * kept) * square);
            }
            // A mean deviates by 5 standard errors once in 10^6.
            EXPECT_NEAR(excess.Get(), 0, 5 * excess.GetError());
            EXPECT_LT(excess.GetError(), 0.02 * square) << "else it says nothing";
            EXPECT_GT(lost.Get(), kept < 1 ? 0.2 : 0.28);
        }
    }
}

TEST(RotatedFusion, OfSeveralDevicesSharesTheWeightOfLostFragments)
{
    // K of N devices deliver a fragment. Their mean differs from that of all by sampling without
    // replacement: (1/K - 1/N) S^2, S^2 = sum ||v_u - v||^2 / (N - 1); none (K = 0) leaves ||v||^2.
    // The noise of quantizers adds D/K, D the mean of theirs.
    constexpr uint32_t DEVICES = 4;
    constexpr std::size_t DIMENSION = 512;
    std::vector<Values> updates;
    Values mean(DIMENSION);
    for (uint32_t u = 0; u < DEVICES; ++u)
    {
        updates.push_back(MakeUneven(DIMENSION, u + 1));
        std::transform(mean.begin(),
                       mean.end(),
                       updates.back().begin(),
                       mean.begin(),
                       [](float sum, float value) { return sum + value / DEVICES; });
    }
    double spread = 0;
    for (const Values& update : updates)
    {
        spread += GetError(update, mean) / (DEVICES - 1);
    }
    double share = 0;   // E[1/K - 1/N; K > 0]
    double inverse = 0; // E[1/K; K > 0]
    double ways = 1;
    for (uint32_t k = 1; k <= DEVICES; ++k)
    {
        ways = ways * (DEVICES - k + 1) / k;
        const double chance = ways * std::pow(1 - LOST, k) * std::pow(LOST, DEVICES - k);
        share += chance * (1.0 / k - 1.0 / DEVICES);
        inverse += chance / k;
    }
    const double none = std::pow(LOST, DEVICES);
    for (const char* name : {"IdentityQuantizer", "UnbiasedStochasticQuantizer"})
    {
        SCOPED_TRACE(name);
        LossyFusion fusion(ObjectFactory(std::string("ns3::") + name).Create<Quantizer>());
        FederatedRandom random(2);
        RunningMean excess;
        for (uint32_t round = 1; round <= 800; ++round)
        {
            fusion.SetRotation(PublicRotation(2, round));
            double distortion = 0;
            for (const Values& update : updates)
            {
                distortion += fusion.Send(update,
                                          random,
                                          [&](std::size_t) { return random.Uniform() < LOST; }) /
                              DEVICES;
            }
            const double error = GetError(fusion.Fuse(DIMENSION).model, mean);
            excess.Add(error - none * GetProduct(mean, mean) - share * spread -
                       inverse * distortion);
        }
        // A mean deviates by 5 standard errors once in 10^6.
        EXPECT_NEAR(excess.Get(), 0, 5 * excess.GetError());
        EXPECT_LT(excess.GetError(), 0.02 * share * spread) << "else it says nothing";
    }
}

TEST(RotatedFusion, LosesALittleOfEveryLayerInsteadOfAWholeOne)
{
    // The last layer fits into one fragment, which is lost.
    constexpr std::size_t DIMENSION = 1024;
    constexpr std::size_t BEGIN = DIMENSION - LossyFusion::FRAGMENT;
    const Values update = MakeUneven(DIMENSION);
    const auto getLayerError = [&](const Values& received, std::size_t begin, std::size_t end)
    {
        const Values sent(update.begin() + begin, update.begin() + end);
        const Values got(received.begin() + begin, received.begin() + end);
        return GetError(got, sent) / GetProduct(sent, sent);
    };
    LossyFusion fusion(CreateObject<IdentityQuantizer>());
    FederatedRandom random(1);
    const auto isLast = [](std::size_t fragment) { return fragment == 15; };
    fusion.Send(update, random, isLast);
    FusedModel plain = fusion.Fuse(DIMENSION);
    EXPECT_NEAR(getLayerError(plain.model, BEGIN, DIMENSION), 1, 1e-9);
    EXPECT_EQ(getLayerError(plain.model, 0, BEGIN), 0);
    EXPECT_EQ(plain.untouchedFraction, 1.0 / 16);

    fusion.SetRotation(PublicRotation(1, 1));
    fusion.Send(update, random, isLast);
    FusedModel rotated = fusion.Fuse(DIMENSION);
    EXPECT_LT(getLayerError(rotated.model, BEGIN, DIMENSION), 0.1);
    EXPECT_GT(getLayerError(rotated.model, BEGIN, DIMENSION), 0);
    EXPECT_GT(getLayerError(rotated.model, 0, BEGIN), 0);
    EXPECT_EQ(rotated.untouchedFraction, 1.0 / 16);
}

TEST(RotatedFusion, CountsUntouchedCoordinatesAmongTheEncodedOnes)
{
    LossyFusion fusion(CreateObject<IdentityQuantizer>());
    fusion.SetRotation(PublicRotation(1, 1));
    FederatedRandom random(1);
    fusion.Send(MakeValues(600), random, [](std::size_t fragment) { return fragment >= 4; });
    const FusedModel fused = fusion.Fuse(600);
    EXPECT_EQ(fused.model.size(), 600U);
    EXPECT_EQ(fused.untouchedFraction, 0.75); // of 1024 in 16 fragments
    EXPECT_EQ(fused.devices.at(0).weight, 0.25);
}
