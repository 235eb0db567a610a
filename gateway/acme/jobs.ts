// Does the work that is due, while this instance has the lease: orders, renews and revokes certificates, and reads renewal information, one
// certificate after the other. Each outcome is stored in one step.

import { X509Certificate } from 'node:crypto';
import type { CertificateLife } from '../shared/certificate-life.ts';
import { type AccountSigner, changeAccountKey, forgetAccount, openAccount } from './account.ts';
import type { AcmeChanges } from './acme-store.ts';
import { type DueWork, dueFor } from './due.ts';
import { AcmeFailure, LeaseLost, StoreAway } from './failure.ts';
import { orderCertificate } from './order.ts';
import {
  type AttemptsRecord,
  certificateIdFor,
  change,
  recordIn,
  recordName,
  revocationAsked,
  SEAL_RECORD,
  SERVER,
  sealedAs,
} from './records.ts';
import { nextAttemptAfterMs } from './renewal.ts';
import { readRenewalInformation } from './renewal-information.ts';
import type { HeldCertificate, ReadPair } from './view.ts';
import type { Work } from './work.ts';

export type AcmeEvent =
  | { readonly kind: 'issued'; readonly names: readonly string[]; readonly expiresAtMs: number; readonly by: string }
  | { readonly kind: 'failed'; readonly names: readonly string[]; readonly attempts: AttemptsRecord }
  | { readonly kind: 'revoked'; readonly names: readonly string[]; readonly by: string }
  | { readonly kind: 'account key changed'; readonly by: string };

interface JobsOptions {
  readonly work: Work;
  held(id: string): HeldCertificate | undefined;
  readonly readPair: ReadPair;
  readonly random: () => number;
  onEvent(event: AcmeEvent): void;
}

/**
 * The errors of a server that does not know the account, or knows another key of it because the store has lost the latest key. In both
 * cases the gateway registers the key in the store. The server ignores the registration of a known key.
 */
const ACCOUNT_LOST: readonly (string | undefined)[] = ['accountDoesNotExist', 'malformed'];

/** The author of orders that no operator has requested. */
const BY_ITSELF = 'acme';

interface Jobs {
  /** Does all work that is due. Records failures of the server. Rejects with LeaseLost, or if the store is away. */
  run(): Promise<void>;
}

export function createJobs({ work, held, readPair, random, onEvent }: JobsOptions): Jobs {
  const { settings, journal, seal, client, now } = work;
  const records = () => journal.records();
  const askedBy = (id: string) => recordIn(records(), 'asked', id)?.by ?? BY_ITSELF;
  let signer: AccountSigner | undefined;

  async function run(): Promise<void> {
    if (records().get(SEAL_RECORD) === undefined) await journal.write({ [SEAL_RECORD]: seal.fingerprint });
    await putBack();
    if (recordIn(records(), 'asked', SERVER)?.kind === 'account key') await attempt(SERVER, [], replaceAccountKey);
    for (const names of settings.certificates) {
      const id = certificateIdFor(names);
      const due = dueFor(id, records(), held(id), now());
      if (due !== undefined) await attempt(id, names, () => jobFor(due, id, names));
    }
  }

  /** Restores certificates that this instance has, but the store has lost. */
  async function putBack(): Promise<void> {
    for (const id of settings.certificates.map(certificateIdFor)) {
      const name = recordName('certificate', id);
      const text = held(id)?.text;
      if (text !== undefined && !records().has(name)) await journal.write({ [name]: text });
    }
  }

  function jobFor(due: DueWork, id: string, names: readonly string[]): Promise<void> {
    if (due === 'ask') return readRenewalInformation(work, id, held(id)?.certificateId, random);
    return due === 'revoke' ? revoke(id, names) : order(id, names);
  }

  async function account(): Promise<AccountSigner> {
    signer ??= await openAccount(work);
    return signer;
  }

  /** Runs a job. If it fails, records the failure with the time of the next attempt. */
  async function attempt(id: string, names: readonly string[], job: () => Promise<void>): Promise<void> {
    try {
      await withAccount(job);
    } catch (error) {
      if (error instanceof LeaseLost || error instanceof StoreAway) throw error;
      // After a fault of the gateway, too, the next attempt must wait.
      await noteFailure(id, names, error instanceof AcmeFailure ? error : new AcmeFailure('refused', String(error)));
    }
  }

  /**
   * Runs a job with the account. If the server no longer knows the account or its key, registers the key and runs the job once more.
   */
  async function withAccount(job: () => Promise<void>): Promise<void> {
    try {
      await job();
    } catch (error) {
      if (!(error instanceof AcmeFailure && ACCOUNT_LOST.includes(error.type))) throw error;
      signer = undefined;
      await forgetAccount(work);
      await job();
    }
  }

  async function noteFailure(id: string, names: readonly string[], failure: AcmeFailure): Promise<void> {
    const { kind, retryAfterMs, message: reason } = failure;
    // A failure of the server delays the work for all certificates.
    const concerned = kind === 'server' || signer === undefined ? SERVER : id;
    const failures = (recordIn(records(), 'attempts', concerned)?.failures ?? 0) + 1;
    const atMs = now();
    const nextAtMs = atMs + nextAttemptAfterMs({ kind, failures, retryAfterMs, random });
    const attempts = { failures, kind, reason, atMs, nextAtMs };
    const isOver = kind === 'refused' && signer !== undefined;
    await journal.write({
      ...change('attempts', concerned, attempts),
      ...change('asked', id, undefined),
      // Keep the request for a revocation that arrived during this work.
      ...(revocationAsked(records(), id) && change('revocation', id, undefined)),
      ...(isOver && forgotten(id)),
    });
    onEvent({ kind: 'failed', names, attempts });
  }

  async function order(id: string, names: readonly string[]): Promise<void> {
    const by = askedBy(id);
    const former = held(id);
    const pair = await orderCertificate(work, await account(), names, former?.certificateId);
    const shown = readPair(pair.certificate, seal.open(pair.key, sealedAs(id)), names);
    const problem = 'reason' in shown ? shown.reason : timeProblem(shown, now());
    if (problem !== undefined || 'reason' in shown)
      throw new AcmeFailure('refused', `The issued certificate cannot be used, so the former one stays: ${problem}`);
    const certificate = { ...pair, names, directory: settings.directory, issuedAtMs: now() };
    await journal.write({
      ...change('certificate', id, certificate),
      ...forgotten(id),
      ...change('attempts', id, undefined),
      ...change('attempts', SERVER, undefined),
      ...change('renewal', id, undefined),
      ...change('asked', id, undefined),
    });
    onEvent({ kind: 'issued', names, expiresAtMs: shown.expiresAtMs, by });
  }

  async function revoke(id: string, names: readonly string[]): Promise<void> {
    const asked = revocationAsked(records(), id);
    if (asked === undefined) return;
    const { revokeCert } = await client.directory();
    const certificate = new X509Certificate(asked.certificate).raw.toString('base64url');
    try {
      await client.post(revokeCert, await account(), { certificate });
    } catch (error) {
      if (!(error instanceof AcmeFailure && error.type === 'alreadyRevoked')) throw error;
    }
    const record = recordIn(records(), 'certificate', id);
    const isInUse = record?.certificate === asked.certificate;
    await journal.write({
      ...(isInUse && change('certificate', id, { ...record, revokedAtMs: now() })),
      ...change('revocation', id, { ...asked, doneAtMs: now() }),
    });
    onEvent({ kind: 'revoked', names, by: asked.by });
    if (isInUse) await order(id, names);
  }

  async function replaceAccountKey(): Promise<void> {
    const by = askedBy(SERVER);
    await account();
    await changeAccountKey(work);
    signer = undefined;
    await journal.write(change('asked', SERVER, undefined));
    onEvent({ kind: 'account key changed', by });
  }

  return { run };
}

const forgotten = (id: string): AcmeChanges => ({
  ...change('order', id, undefined),
  ...change('challenges', id, undefined),
});

function timeProblem({ validFromMs, expiresAtMs }: CertificateLife, nowMs: number): string | undefined {
  if (nowMs < validFromMs) return 'it is not valid yet; is the clock of this machine right?';
  return nowMs >= expiresAtMs ? 'it has expired; is the clock of this machine right?' : undefined;
}
