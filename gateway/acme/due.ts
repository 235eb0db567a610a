// Decides from the records which work is due for a certificate. Pure. Times are epoch milliseconds by the clock of the store.

import type { CertificateLife } from '../shared/certificate-life.ts';
import type { AcmeRecords } from './acme-store.ts';
import { isToCome } from './back-off.ts';
import { recordIn, revocationAsked, SERVER } from './records.ts';
import { renewAtMs } from './renewal.ts';

/** The certificate in use. */
export interface CertificateInUse extends CertificateLife {
  readonly fingerprint: string;
  /** The identifier for renewal information; undefined if the certificate has no identifier. */
  readonly certificateId: string | undefined;
  readonly isRevoked: boolean;
  readonly issuedAtMs: number;
}

/** `order`: order or renew the certificate. `ask`: read its renewal information. */
export type DueWork = 'order' | 'ask' | 'revoke';

/** @param held the certificate in use; undefined if there is none for these names yet */
export function dueFor(
  id: string,
  records: AcmeRecords,
  held: CertificateInUse | undefined,
  nowMs: number,
): DueWork | undefined {
  const attempts = recordIn(records, 'attempts', id);
  const server = recordIn(records, 'attempts', SERVER);
  const isBlocked = [attempts, server].some((one) => one !== undefined && isToCome(one.nextAtMs, nowMs));
  const isLimited = [attempts, server].some((one) => one?.kind === 'limited' && isToCome(one.nextAtMs, nowMs));
  const asked = recordIn(records, 'asked', id);
  if (revocationAsked(records, id) !== undefined && !isLimited) return 'revoke';
  // The request of an operator waits for a rate limit of the server, but not for the back-off.
  if (asked?.kind === 'order' && !isLimited) return 'order';
  if (isBlocked) return undefined;
  if (recordIn(records, 'order', id) !== undefined) return 'order';
  const isDue = held === undefined || held.isRevoked || renewalOf(id, records, held) <= nowMs;
  if (isDue) return 'order';
  if (held.certificateId === undefined) return undefined;
  const renewal = recordIn(records, 'renewal', id);
  return renewal?.certificateId === held.certificateId && isToCome(renewal.askAtMs, nowMs) ? undefined : 'ask';
}

/** Returns the time at which the certificate is renewed. */
export function renewalOf(id: string, records: AcmeRecords, held: CertificateInUse): number {
  const renewal = recordIn(records, 'renewal', id);
  const window = renewal?.certificateId === held.certificateId ? renewal?.window : undefined;
  return renewAtMs(held, held.issuedAtMs, window, shareOf(held.fingerprint));
}

/** Returns a number from 0 to 1, which is the same on all instances. */
function shareOf(fingerprint: string): number {
  return Number.parseInt(fingerprint.replace(/[^0-9A-Fa-f]/g, '').slice(0, 8) || '0', 16) / 0xffff_ffff;
}
