// The protocols that are simulated. Quotas take a place here once the gateway has them: a file with the real code in `start`, and a checker of their
// promise (never above the quota of a month).

import type { Protocol } from '../protocol.ts';
import { certificatesProtocol } from './certificates.ts';
import { idempotencyProtocol, replicasProtocol } from './idempotency.ts';
import { keysProtocol } from './keys.ts';
import { limitsProtocol } from './limits.ts';
import { reloadProtocol } from './reload.ts';
import { sessionsProtocol } from './sessions.ts';

export const PROTOCOLS: readonly Protocol[] = [
  limitsProtocol,
  keysProtocol,
  idempotencyProtocol,
  certificatesProtocol,
  reloadProtocol,
  sessionsProtocol,
  replicasProtocol,
];

export function protocolNamed(name: string): Protocol {
  const found = PROTOCOLS.find((protocol) => protocol.name === name);
  if (found === undefined)
    throw new Error(`There is no protocol ${name}; there are ${PROTOCOLS.map((one) => one.name).join(', ')}.`);
  return found;
}
