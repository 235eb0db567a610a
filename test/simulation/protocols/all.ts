// The protocols that are simulated. Each is a file with the real code in `start`, and a checker of its promise. Quotas have none, because
// the gateway has no quotas.

import type { Protocol } from '../protocol.ts';
import { boundProtocol } from './bound.ts';
import { certificatesProtocol } from './certificates.ts';
import { idempotencyProtocol, replicasProtocol } from './idempotency.ts';
import { keysProtocol } from './keys.ts';
import { limitsProtocol } from './limits.ts';
import { reloadProtocol } from './reload.ts';
import { sessionsProtocol } from './sessions.ts';
import { usageProtocol } from './usage.ts';

export const PROTOCOLS: readonly Protocol[] = [
  limitsProtocol,
  keysProtocol,
  idempotencyProtocol,
  certificatesProtocol,
  reloadProtocol,
  sessionsProtocol,
  replicasProtocol,
  usageProtocol,
  boundProtocol,
];

export function protocolNamed(name: string): Protocol {
  const found = PROTOCOLS.find((protocol) => protocol.name === name);
  if (found === undefined)
    throw new Error(`There is no protocol ${name}; there are ${PROTOCOLS.map((one) => one.name).join(', ')}.`);
  return found;
}
