// SPDX-License-Identifier: GPL-2.0-only

#include "federated-learning-options.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/federated-number.h"
#include "ns3/mlp-model.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/saved-model.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <vector>

namespace ns3
{

namespace
{

/** A word of an option, and the attribute that is set by what follows its colon. */
struct Choice
{
    const char* word;      //!< Before the colon.
    const char* typeId;    //!< What it makes.
    const char* attribute; //!< The attribute; empty: there is no colon.
    const char* values;    //!< Its values, in words.
    bool needsValue;       //!< Whether the word alone is not enough.
};

const std::vector<Choice> PARTITIONS = {
    {"iid", "ns3::IidPartition", "", "", false},
    {"dirichlet", "ns3::DirichletPartition", "Alpha", "a number above 0 and up to 1e6", true},
    {"shards", "ns3::ShardPartition", "Shards", "a whole number from 1 to 1000000", true},
    {"labels", "ns3::LabelPartition", "", "", false},
    {"quantity", "ns3::QuantityPartition", "Alpha", "a number above 0 and up to 1e6", true},
};

const std::vector<Choice> MODELS = {
    {"mlp",
     "ns3::MlpModel",
     "HiddenLayers",
     "whole numbers from 1 to 65535 with commas between",
     false},
    {"logistic", "ns3::LogisticModel", "", "", false},
    {"lenet", "ns3::LeNetModel", "", "", false},
};

const std::vector<Choice> AGGREGATORS = {
    {"mean", "ns3::MeanAggregator", "", "", false},
    {"median", "ns3::MedianAggregator", "", "", false},
    {"trimmed", "ns3::TrimmedMeanAggregator", "Fraction", "a number from 0 to 0.5", true},
    {"norm", "ns3::NormBoundAggregator", "Bound", "a number from 1e-9 to 1e9", true},
};

/**
 * @param object The object.
 * @param name Name of an attribute: a number, or a text that its setter checks.
 * @param text Its value.
 * @return whether the value is one that the attribute takes; strictly, unlike ns-3's own reading.
 */
bool
SetStrictly(const Ptr<Object>& object, const std::string& name, const std::string& text)
{
    TypeId::AttributeInformation attribute;
    object->GetInstanceTypeId().LookupAttributeByName(name, &attribute);
    const std::string type = attribute.checker->GetValueTypeName();
    double real = 0;
    uint64_t count = 0;
    if (type == "ns3::DoubleValue")
    {
        return FederatedNumber::ReadReal(text, real) &&
               object->SetAttributeFailSafe(name, DoubleValue(real));
    }
    if (type == "ns3::UintegerValue")
    {
        return FederatedNumber::ReadCount(text, count) &&
               object->SetAttributeFailSafe(name, UintegerValue(count));
    }
    std::vector<std::size_t> widths; // the only list
    return !text.empty() &&
           FederatedNumber::ReadCounts(text, std::size_t{1}, MlpModel::MAX_WIDTH, widths) &&
           object->SetAttributeFailSafe(name, StringValue(text));
}

/**
 * @param choices What there is to choose from.
 * @param list The same for people.
 * @param text A word, or a word, a colon and a value.
 * @param [out] error On failure, words that follow the text.
 * @return what the text describes, null if it is something else.
 */
Ptr<Object>
Make(const std::vector<Choice>& choices,
     const std::string& list,
     const std::string& text,
     std::string& error)
{
    const std::size_t colon = text.find(':');
    const bool hasValue = colon != std::string::npos;
    for (const Choice& choice : choices)
    {
        const std::string attribute = choice.attribute;
        if (text.substr(0, colon) != choice.word || (hasValue && attribute.empty()))
        {
            continue;
        }
        const auto object = ObjectFactory(choice.typeId).Create();
        if (hasValue ? SetStrictly(object, attribute, text.substr(colon + 1)) : !choice.needsValue)
        {
            return object;
        }
        error = "needs " + std::string(choice.values) + " after '" + choice.word + ":'";
        return nullptr;
    }
    error = "is not one of " + list;
    return nullptr;
}

} // namespace

void
FederatedLearningOptions::Add(FederatedCommandLine& cmd)
{
    cmd.AddText("partition",
                "Split of the training set: iid, dirichlet:A, shards:S, labels or quantity:A",
                partition,
                [](const std::string& text)
                {
                    std::string error;
                    MakePartition(text, error);
                    return error;
                });
    cmd.AddText("model",
                "Model: mlp:H with hidden layers such as 200 or 300,100; logistic; or lenet",
                model,
                &CheckModel);
    cmd.AddCount("steps", "Steps of SGD in a round", steps, 1, 1000000);
    cmd.AddCount("batch", "Samples of a step", batch, 1, 1000000);
    cmd.AddReal("learning-rate", "Of the first round, 0: of the profile", learningRate, 0, 1e6);
    cmd.AddText("aggregator",
                "How updates are combined: mean, median, trimmed:F without a fraction F at each "
                "end, or norm:C with updates scaled to at most norm C",
                aggregator,
                [](const std::string& text)
                {
                    std::string error;
                    MakeAggregator(text, error);
                    return error;
                });
    cmd.AddFlag("save", "Write the last model to PREFIX-model.npy", save, true);
    cmd.AddText("start",
                "File with the model to begin with, as an earlier run or numpy.save wrote it",
                start,
                [](const std::string& text) { return SavedModel().Read(text); });
    cmd.AddReal("target", "Test accuracy at which the run ends, 0: none", target, 0, 1);
}

void
FederatedLearningOptions::SetUp(FederatedHelper& federation) const
{
    const FederatedLearningOptions defaults;
    std::string error;
    if (partition != defaults.partition)
    {
        const auto chosen = MakePartition(partition, error);
        NS_ABORT_MSG_IF(!chosen, "FederatedLearningOptions: partition " << partition << error);
        federation.SetPartition(chosen);
    }
    if (model != defaults.model)
    {
        const auto chosen = MakeModel(model, error);
        NS_ABORT_MSG_IF(!chosen, "FederatedLearningOptions: model " << model << error);
        federation.SetTaskAttribute("Model", PointerValue(chosen));
    }
    if (steps != defaults.steps)
    {
        federation.SetDeviceAttribute("Steps", UintegerValue(steps));
    }
    if (batch != defaults.batch)
    {
        federation.SetDeviceAttribute("BatchSize", UintegerValue(batch));
    }
    if (learningRate > 0)
    {
        federation.SetDeviceAttribute("LearningRate", DoubleValue(learningRate));
    }
    if (aggregator != defaults.aggregator)
    {
        const auto chosen = MakeAggregator(aggregator, error);
        NS_ABORT_MSG_IF(!chosen, "FederatedLearningOptions: aggregator " << aggregator << error);
        federation.SetCenterAttribute("Aggregator", PointerValue(chosen));
    }
    federation.SetSave(save);
    if (!start.empty())
    {
        SavedModel first;
        error = first.Read(start);
        NS_ABORT_MSG_IF(!error.empty(),
                        "FederatedLearningOptions: start " << start << " " << error);
        federation.SetStart(first);
    }
    if (target > 0)
    {
        federation.SetCenterAttribute("TargetAccuracy", DoubleValue(target));
    }
}

Ptr<FederatedPartition>
FederatedLearningOptions::MakePartition(const std::string& text, std::string& error)
{
    const std::string list = "iid, dirichlet:A, shards:S, labels, quantity:A";
    return DynamicCast<FederatedPartition>(Make(PARTITIONS, list, text, error));
}

Ptr<LearningModel>
FederatedLearningOptions::MakeModel(const std::string& text, std::string& error)
{
    const std::string list = "mlp:H, mlp, logistic, lenet";
    return DynamicCast<LearningModel>(Make(MODELS, list, text, error));
}

Ptr<UpdateAggregator>
FederatedLearningOptions::MakeAggregator(const std::string& text, std::string& error)
{
    const std::string list = "mean, median, trimmed:F, norm:C";
    return DynamicCast<UpdateAggregator>(Make(AGGREGATORS, list, text, error));
}

std::string
FederatedLearningOptions::CheckModel(const std::string& text)
{
    std::string error;
    MakeModel(text, error);
    return error;
}

} // namespace ns3
