# The one list of files, for all three builds. The wscript reads it too: one path a line.
set(federated_sources
    model/federated-random.cc
)

set(federated_headers
    model/federated-random.h
)

set(federated_test_sources
    test/federated-random-test.cc
    test/federated-test-suite.cc
)

set(federated_examples
)
