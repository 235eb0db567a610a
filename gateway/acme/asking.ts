// Passes the request of an operator to a running gateway. A command writes the request into the store, and waits until a gateway has done
// it.

import { type Machine, REAL_MACHINE } from '../shared/machine.ts';
import type { AcmeChanges, AcmeRecords, AcmeStore } from './acme-store.ts';
import { isToCome } from './back-off.ts';
import { type AskedRecord, change, recordIn, recordName, SERVER } from './records.ts';

const CHECK_MS = 200;
/** How long a command waits, which is longer than an order takes, and longer than the lease of an instance that has died. */
const PATIENCE_MS = 120_000;

export interface CertificateRequest {
  readonly store: AcmeStore;
  /** The id of the certificate; `SERVER` for the account key. */
  readonly id: string;
  readonly kind: AskedRecord['kind'] | 'revoke';
  readonly by: string;
  now(): number;
  readonly machine?: Machine;
}

/**
 * Writes the request, and waits until a gateway has done it. Returns undefined if it was done, otherwise a sentence with the reason.
 * Rejects while the store cannot be reached.
 */
export async function askGateways(asking: CertificateRequest): Promise<string | undefined> {
  const { store, id, kind, machine = REAL_MACHINE } = asking;
  const { performance, sleep } = machine;
  const before = await store.read();
  const limit = limitIn(before, id, store.now());
  if (limit !== undefined) return limit;
  const request = requestFor(asking, before);
  if (request === undefined) return 'There is no certificate yet.';
  const name = recordName(kind === 'revoke' ? 'revocation' : 'asked', id);
  await store.put(request);
  const endsAt = performance.now() + PATIENCE_MS;
  while (performance.now() < endsAt) {
    const records = await store.read();
    if (records.get(name) !== request[name]) return outcomeOf(asking, before, records);
    // A gateway at work has reached a rate limit of the server. Key changes of the account do not wait for it.
    const met = id === SERVER ? undefined : limitIn(records, id, store.now());
    if (met !== undefined) {
      await store.put({ [name]: undefined });
      return met;
    }
    await sleep(CHECK_MS);
  }
  await store.put({ [name]: undefined });
  return 'No gateway has taken up the request: is one running with this store and this tls.acme?';
}

/** Returns a sentence on the rate limit that delays the certificate; undefined if there is none. */
function limitIn(records: AcmeRecords, id: string, nowMs: number): string | undefined {
  const limits = [recordIn(records, 'attempts', id), recordIn(records, 'attempts', SERVER)];
  const limit = limits.find((one) => one?.kind === 'limited' && isToCome(one.nextAtMs, nowMs));
  return limit && `${limit.reason} The next attempt is possible at ${new Date(limit.nextAtMs).toISOString()}.`;
}

/** Returns the change that writes the request; undefined if there is no certificate to revoke. */
function requestFor({ id, kind, by, now }: CertificateRequest, before: AcmeRecords): AcmeChanges | undefined {
  if (kind !== 'revoke') return change('asked', id, { kind, by, atMs: now() });
  const certificate = recordIn(before, 'certificate', id)?.certificate;
  return certificate === undefined ? undefined : change('revocation', id, { certificate, by, atMs: now() });
}

/**
 * Returns the outcome of a request that is no longer in the store, because it was done, has failed, or was among the last writes that the
 * store has lost.
 */
function outcomeOf({ id, kind }: CertificateRequest, before: AcmeRecords, records: AcmeRecords): string | undefined {
  if (kind === 'revoke' && recordIn(records, 'revocation', id)?.doneAtMs !== undefined) return undefined;
  for (const subject of [id, SERVER]) {
    const failure = recordIn(records, 'attempts', subject);
    if (failure !== undefined && failure.atMs !== recordIn(before, 'attempts', subject)?.atMs) return failure.reason;
  }
  const accounts = recordName('account', '');
  const isNew = [...records].some(([name, text]) => name.startsWith(accounts) && before.get(name) !== text);
  if (kind === 'account key' && isNew) return undefined;
  const certificate = recordName('certificate', id);
  if (kind === 'order' && records.get(certificate) !== before.get(certificate)) return undefined;
  return 'The store has lost the request: repeat the command.';
}
