// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_VERSION_H
#define FEDERATED_VERSION_H

/**
 * @defgroup federated Federated learning
 *
 * Federated learning whose messages are real bytes on simulated links: a FusionCenter, any number
 * of FederatedDevice, and the strategies that both are made of. Scripts use FederatedHelper.
 */

/**
 * @ingroup federated
 * Version of the module, as the result line of every example prints it.
 */
#define FEDERATED_VERSION "0.2.0"

#endif // FEDERATED_VERSION_H
