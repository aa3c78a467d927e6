// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/saved-model.h"

#include "federated-test-folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/** @return the first 128 bytes of a file that NumPy 1.24 writes. */
std::string
MakeHeader(const std::string& dictionary)
{
    std::string text = std::string("\x93NUMPY\x01\x00v\x00", 10) + dictionary;
    text.resize(127, ' ');
    return text + "\n";
}

// What NumPy 1.24 writes for array([1, -2.5, 0.1], '<f4'), and then for 6.
const std::string HEADER = MakeHeader("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
const std::string VALUES("\x00\x00\x80\x3f\x00\x00\x20\xc0\xcd\xcc\xcc\x3d", 12);
const std::string ROUND_HEADER =
    MakeHeader("{'descr': '<i8', 'fortran_order': False, 'shape': (), }");
const std::string ROUND_SIX("\x06\x00\x00\x00\x00\x00\x00\x00", 8);

/** @return what is wrong with the content of a file. */
std::string
ReadAll(const std::string& content, SavedModel& model)
{
    std::istringstream stream(content);
    return model.Read(stream, content.size());
}

/** Expect that a content is refused, with a reason, and leaves the model as it was. */
void
ExpectMistake(const std::string& content, const std::string& reason)
{
    SavedModel model;
    model.values = {7};
    model.round = 5;
    EXPECT_EQ(ReadAll(content, model), reason);
    EXPECT_EQ(model.values, std::vector<float>{7});
    EXPECT_EQ(model.round, 5U);
}

} // namespace

/** @ingroup federated-tests Files with a model. */
class SavedModels : public FederatedTestFolder
{
};

TEST_F(SavedModels, ReadWhatNumpyWrites)
{
    SavedModel model;
    EXPECT_EQ(model.Read(Write("two.npy", HEADER + VALUES + ROUND_HEADER + ROUND_SIX)), "");
    EXPECT_EQ(model.values, (std::vector<float>{1, -2.5F, 0.1F}));
    EXPECT_EQ(model.round, 6U);
    EXPECT_EQ(model.path, GetFolder() + "/two.npy");
    EXPECT_EQ(model.Read(Write("one.npy", HEADER + VALUES)), "");
    EXPECT_EQ(model.values.size(), 3U);
    EXPECT_EQ(model.round, 0U) << "without a second array the round is not known";
}

TEST_F(SavedModels, WriteTheBytesThatNumpyWrites)
{
    const SavedModel model{"", {1, -2.5F, 0.1F}, 6};
    EXPECT_EQ(model.ToNpy(), HEADER + VALUES + ROUND_HEADER + ROUND_SIX);
}

TEST_F(SavedModels, ReadBackEveryFloatThatIsFinite)
{
    SavedModel model;
    model.values = {0.0F,
                    -0.0F,
                    std::numeric_limits<float>::max(),
                    -std::numeric_limits<float>::min(),
                    std::numeric_limits<float>::denorm_min()};
    model.values.resize(100000, 0.25F);
    model.round = SavedModel::MAX_ROUND;
    SavedModel copy;
    EXPECT_EQ(ReadAll(model.ToNpy(), copy), "");
    EXPECT_EQ(copy.values, model.values);
    EXPECT_TRUE(std::signbit(copy.values[1]));
    EXPECT_EQ(copy.round, SavedModel::MAX_ROUND);
}

TEST_F(SavedModels, SayWhatIsWrongWithAPath)
{
    SavedModel model;
    EXPECT_EQ(model.Read(GetFolder() + "/none.npy"), "does not exist");
    EXPECT_EQ(model.Read(GetFolder()), "is not a file");
    EXPECT_EQ(model.Read("/dev/zero"), "is not a file");
    EXPECT_EQ(model.Read(Write("empty.npy", "")), "is not a file of NumPy (NPY 1.0)");
    EXPECT_EQ(model.path, "");
}

TEST_F(SavedModels, RefuseOtherArrays)
{
    const std::string noNumpy = "is not a file of NumPy (NPY 1.0)";
    const struct
    {
        const char* dictionary;
        std::string mistake;
    } rows[] = {
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
         "holds numbers of type <f8, not <f4 (float32)"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (3,), }",
         "holds numbers of type >f4, not <f4 (float32)"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
         "holds an array of shape (), not (d,) with one number a parameter"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }",
         "holds an array of shape (0,), not (d,) with one number a parameter"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }",
         "holds an array of shape (1,3), not (d,) with one number a parameter"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3), }",
         "holds an array of shape (3), not (d,) with one number a parameter"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }",
         "ends before the last of its 4 numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967295,), }",
         "ends before the last of its 4294967295 numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551615,), }",
         "ends before the last of its 18446744073709551615 numbers"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,), }",
         "holds an array of shape (18446744073709551616,), not (d,) with one number a parameter"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }", noNumpy},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (3,), }", noNumpy},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'round': 6}", noNumpy},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }", noNumpy},
        {"{'descr': '\n\x7f', 'fortran_order': False, 'shape': (3,), }", noNumpy},
        {"", noNumpy},
    };
    for (const auto& row : rows)
    {
        ExpectMistake(MakeHeader(row.dictionary) + VALUES, row.mistake);
    }
    SavedModel model;
    EXPECT_EQ(
        ReadAll(MakeHeader("{'descr':'<f4','fortran_order':True,'shape':(3,)}") + VALUES, model),
        "")
        << "other writers have other spaces, and an order of axes that does not matter";
    std::string newer = HEADER + VALUES;
    newer[6] = 2;
    ExpectMistake(newer, noNumpy);
}

TEST_F(SavedModels, RefuseNumbersThatAreNotFinite)
{
    for (const char* bits : {"\x80\x7f", "\x80\xff", "\xc0\x7f"})
    {
        std::string values = VALUES;
        values.replace(6, 2, bits);
        ExpectMistake(HEADER + values, "holds a number that is not finite, at position 1");
    }
}

TEST_F(SavedModels, RefuseWhatFollowsTheModelIfItIsNotARound)
{
    const std::string other =
        "has something else after the model than the round, one number of type <i8";
    const std::string whole = HEADER + VALUES + ROUND_HEADER + ROUND_SIX;
    ExpectMistake(HEADER + VALUES + "x", other);
    ExpectMistake(whole + "x", other);
    ExpectMistake(whole.substr(0, whole.size() - 1), other);
    ExpectMistake(HEADER + VALUES + HEADER + VALUES, other);
    const std::string range = "is of a round below 0 or above 1000000";
    ExpectMistake(HEADER + VALUES + ROUND_HEADER + std::string(8, '\xff'), range);
    ExpectMistake(HEADER + VALUES + ROUND_HEADER + std::string("\x41\x42\x0f\0\0\0\0\0", 8), range);
}

TEST_F(SavedModels, SurviveEveryTruncationAndEveryChangedByte)
{
    const std::string whole = HEADER + VALUES + ROUND_HEADER + ROUND_SIX;
    for (std::size_t size = 0; size < whole.size(); ++size)
    {
        SavedModel model;
        const bool isWhole = size == HEADER.size() + VALUES.size();
        EXPECT_EQ(ReadAll(whole.substr(0, size), model).empty(), isWhole) << size;
        for (const char byte : {'\0', ' ', '9', '\xff'})
        {
            std::string changed = whole;
            changed[size] = byte;
            const std::string mistake = ReadAll(changed, model);
            EXPECT_EQ(mistake.find_first_of("\n\xff"), std::string::npos) << mistake;
        }
    }
}
