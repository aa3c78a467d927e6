// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_VERSION_H
#define FEDERATED_VERSION_H

/** @ingroup federated
 * Version of the module, as the result line of every example prints it. */
#define FEDERATED_VERSION "0.1.0"

#endif // FEDERATED_VERSION_H
