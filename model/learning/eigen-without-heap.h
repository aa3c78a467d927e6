// SPDX-License-Identifier: GPL-2.0-only

#ifndef EIGEN_WITHOUT_HEAP_H
#define EIGEN_WITHOUT_HEAP_H

/**
 * @file
 * @ingroup federated
 * Eigen for the kernels, whose loops must not allocate: products put their packed blocks on the
 * stack up to this many bytes, which the blocks, made for the caches, stay far below.
 */
#define EIGEN_STACK_ALLOCATION_LIMIT (4 << 20)

#include <Eigen/Core>

#endif // EIGEN_WITHOUT_HEAP_H
