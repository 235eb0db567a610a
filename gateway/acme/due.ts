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

/** `order`: order or renew the certificate. `read renewal`: read its renewal information. */
export type DueWork = 'order' | 'read renewal' | 'revoke';

/** @param inUse the certificate in use; undefined if there is none for these names yet */
export function dueFor(
  id: string,
  records: AcmeRecords,
  inUse: CertificateInUse | undefined,
  nowMs: number,
): DueWork | undefined {
  const attempts = recordIn(records, 'attempts', id);
  const server = recordIn(records, 'attempts', SERVER);
  const isBlocked = [attempts, server].some((one) => one !== undefined && isToCome(one.nextAtMs, nowMs));
  const isLimited = [attempts, server].some((one) => one?.kind === 'limited' && isToCome(one.nextAtMs, nowMs));
  const request = recordIn(records, 'asked', id);
  if (revocationAsked(records, id) !== undefined && !isLimited) return 'revoke';
  // The request of an operator waits for a rate limit of the server, but not for the back-off.
  if (request?.kind === 'order' && !isLimited) return 'order';
  if (isBlocked) return undefined;
  if (recordIn(records, 'order', id) !== undefined) return 'order';
  const isDue = inUse === undefined || inUse.isRevoked || renewalOf(id, records, inUse) <= nowMs;
  if (isDue) return 'order';
  if (inUse.certificateId === undefined) return undefined;
  const renewal = recordIn(records, 'renewal', id);
  return renewal?.certificateId === inUse.certificateId && isToCome(renewal.askAtMs, nowMs)
    ? undefined
    : 'read renewal';
}

/** Returns the time at which the certificate is renewed. */
export function renewalOf(id: string, records: AcmeRecords, inUse: CertificateInUse): number {
  const renewal = recordIn(records, 'renewal', id);
  const window = renewal?.certificateId === inUse.certificateId ? renewal?.window : undefined;
  return renewAtMs(inUse, inUse.issuedAtMs, window, shareOf(inUse.fingerprint));
}

/** Returns a number from 0 to 1, which is the same on all instances. */
function shareOf(fingerprint: string): number {
  return Number.parseInt(fingerprint.replace(/[^0-9A-Fa-f]/g, '').slice(0, 8) || '0', 16) / 0xffff_ffff;
}
