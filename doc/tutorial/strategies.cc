// SPDX-License-Identifier: GPL-2.0-only

// Strategies of one's own (doc/tutorial.rst): a selection policy, a quantizer and a model, each
// chosen by the name of its TypeId.

#include "ns3/core-module.h"
#include "ns3/federated-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3
{

// Selects the devices with most training samples.
class MostSamplesSelection : public SelectionPolicy
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::MostSamplesSelection")
                                .SetParent<SelectionPolicy>()
                                .AddConstructor<MostSamplesSelection>();
        return tid;
    }

  private:
    std::vector<uint32_t> DoSelect(const SelectionContext& context,
                                   const std::vector<SelectionCandidate>& candidates) override
    {
        auto order = candidates;
        std::stable_sort(order.begin(),
                         order.end(),
                         [](const auto& a, const auto& b) { return a.samples > b.samples; });
        std::vector<uint32_t> devices;
        for (uint32_t i = 0; i < context.count; ++i)
        {
            devices.push_back(order[i].device);
        }
        return devices;
    }
};

NS_OBJECT_ENSURE_REGISTERED(MostSamplesSelection);

// Sends the nearest level: no randomness, the least error, and no privacy at all.
class NearestQuantizer : public LevelQuantizer
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::NearestQuantizer")
                                .SetParent<LevelQuantizer>()
                                .AddConstructor<NearestQuantizer>();
        return tid;
    }

  private:
    void DoChooseLevels(const float* values,
                        std::size_t count,
                        const LevelGrid& grid,
                        FederatedRandom& /* random */,
                        uint16_t* levels) const override
    {
        for (std::size_t i = 0; i < count; ++i)
        {
            float fraction; // where in its cell a value lies, 0 to 1
            const int32_t cell = grid.Locate(values[i], fraction);
            levels[i] = static_cast<uint16_t>(cell + (fraction > 0.5F ? 1 : 0));
        }
    }

    double DoGetDistortion(const float* values,
                           std::size_t count,
                           const LevelGrid& grid) const override
    {
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i)
        {
            double fraction;
            const int32_t cell = grid.Locate(values[i], fraction);
            const double error = values[i] - grid.GetValue(cell + (fraction > 0.5 ? 1 : 0));
            sum += error * error;
        }
        return sum;
    }

    double DoGetCellDistortion(const LevelGrid& grid) const override
    {
        return grid.step * grid.step / 12; // of a value that is uniform in its cell
    }

    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& /* context */) const override
    {
        return PrivacyClaim::None("Levels are sent as they are.");
    }
};

NS_OBJECT_ENSURE_REGISTERED(NearestQuantizer);

// One image w_k for each class k; the score of class k is the scalar product of w_k and the sample.
class TemplateModel : public SimpleModel
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::TemplateModel").SetParent<SimpleModel>().AddConstructor<TemplateModel>();
        return tid;
    }

  private:
    std::size_t DoGetDimension(const SampleShape& shape) const override
    {
        return shape.rows * shape.columns * shape.classes;
    }

    void DoComputeLogits(const Sample& x, const float* w, float* scores) const override
    {
        for (std::size_t k = 0; k < x.shape.classes; ++k)
        {
            scores[k] = std::inner_product(x.input, x.input + x.features, w + k * x.features, 0.0F);
        }
    }

    // Add, for each class k, delta_k times the gradient of its score.
    void DoAddGradient(const Sample& x,
                       const float* /* w */,
                       const float* delta,
                       float* gradient) const override
    {
        for (std::size_t j = 0; j < x.features * x.shape.classes; ++j)
        {
            gradient[j] += delta[j / x.features] * x.input[j % x.features];
        }
    }
};

NS_OBJECT_ENSURE_REGISTERED(TemplateModel);

} // namespace ns3

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string selection = "ns3::RandomSelection";
    std::string quantizer = "ns3::UnbiasedStochasticQuantizer";
    std::string model = "ns3::LogisticModel";
    uint32_t rounds = 10;
    std::string data = "data/mnist";
    std::string output;
    FederatedCommandLine cmd(__FILE__, "Strategies of one's own, by the names of their TypeIds.");
    cmd.AddText("selection", "Which devices are selected", selection);
    cmd.AddText("quantizer", "How updates are encoded", quantizer);
    cmd.AddText("model", "What is learned", model);
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000);
    cmd.AddData(data);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);
    std::string error;
    const FederatedData images = FederatedData::LoadDirectory(data, error);
    cmd.Require(error.empty(), error);

    NodeContainer devices(20);
    FederatedHelper federation;
    federation.AddGroup(devices, 4);
    federation.SetData(images);
    federation.SetTaskAttribute("Partition", StringValue("ns3::QuantityPartition[Alpha=0.5]"));
    federation.SetTaskAttribute("Model", StringValue(model));
    federation.SetAlgorithm("sq");
    federation.SetQuantizer(ObjectFactory(quantizer).Create<Quantizer>());
    federation.SetInterval(0.05);
    federation.SetCenterAttribute("SelectionPolicy", StringValue(selection));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Participants", UintegerValue(5));

    FederatedStarHelper star; // a wire from each device to the center
    star.Install(federation, CreateObject<Node>());
    cmd.Require(federation.EnableOutput(output, error), error);
    Simulator::Run();
    return federation.Finish();
}
