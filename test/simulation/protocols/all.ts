// The protocols that are simulated. Quotas and the refresh of sessions take a place here once the gateway has them: a file each, with the real code
// in `start`, the provider as a model, and a checker of its promise (one redemption for each refresh token; never above the quota of a month).

import type { Protocol } from '../protocol.ts';
import { certificatesProtocol } from './certificates.ts';
import { idempotencyProtocol } from './idempotency.ts';
import { keysProtocol } from './keys.ts';
import { limitsProtocol } from './limits.ts';
import { reloadProtocol } from './reload.ts';

export const PROTOCOLS: readonly Protocol[] = [
  limitsProtocol,
  keysProtocol,
  idempotencyProtocol,
  certificatesProtocol,
  reloadProtocol,
];

export function protocolNamed(name: string): Protocol {
  const found = PROTOCOLS.find((protocol) => protocol.name === name);
  if (found === undefined)
    throw new Error(`There is no protocol ${name}; there are ${PROTOCOLS.map((one) => one.name).join(', ')}.`);
  return found;
}
