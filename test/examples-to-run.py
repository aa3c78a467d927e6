#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# A list of C++ examples to run in order to ensure that they remain
# buildable and runnable over time.  Each tuple in the list contains
#
#     (example_name, do_run, do_valgrind_run).
#
# See test.py for more information; it runs them in testpy-output/TIME. Those with --data need MNIST
# (tools/get-mnist).
cpp_examples = [
    ("federated-minimal --rounds=3", "True", "False"),
    ("federated-guests --rounds=3", "True", "False"),
    ("federated-wifi-simple --rounds=3", "True", "False"),
    ("federated-wifi-custom --rounds=2", "True", "False"),
    ("federated-distortion --samples=10000", "True", "False"),
    ("federated-audit --samples=1000", "True", "False"),
    (
        "federated-paper --rounds=2 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-insider --rounds=3 --attack=flip --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-private --rounds=3 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-star --devices=50 --rounds=2 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-csma --devices=10 --rounds=2 --loss=0.05 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-wifi --devices=10 --rounds=2 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-wifi --mode=infrastructure --devices=10 --rounds=2 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-multicell --cells=2 --devices=4 --participants=3 --walkers=2 --rounds=2 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-lte --devices=6 --participants=4 --rounds=2 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-lrwpan --rounds=1 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-attack --nets=1 --images=1 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
    (
        "federated-eavesdropper --distance=1 --devices=2 --data=../../contrib/federated/data/mnist",
        "os.path.isdir('contrib/federated/data/mnist')",
        "False",
    ),
]

# A list of Python examples to run in order to ensure that they remain
# runnable over time.  Each tuple in the list contains
#
#     (example_name, do_run).
#
# See test.py for more information.
python_examples = []
