// Does the work that is due, while this instance has the lease. Orders, renews and revokes certificates, and reads renewal information, one
// certificate after the other. Each outcome is stored in one step.

import { X509Certificate } from 'node:crypto';
import type { CertificateLife } from '../shared/certificate-life.ts';
import { type AccountSigner, changeAccountKey, forgetAccount, openAccount } from './account.ts';
import type { AcmeChanges, AcmeRecords } from './acme-store.ts';
import { nextAttemptAfterMs } from './back-off.ts';
import { type DueWork, dueFor } from './due.ts';
import { AcmeFailure, LeaseLost, StoreAway } from './failure.ts';
import { orderCertificate } from './order.ts';
import {
  type AttemptsRecord,
  change,
  recordIdOf,
  recordIn,
  recordName,
  revocationAsked,
  SEAL_RECORD,
  SERVER,
  sealedAs,
} from './records.ts';
import { readRenewalInformation } from './renewal-information.ts';
import type { LoadedCertificate, ReadPair } from './view.ts';
import type { Work } from './work.ts';

export type AcmeEvent =
  | { readonly kind: 'issued'; readonly names: readonly string[]; readonly expiresAtMs: number; readonly by: string }
  | { readonly kind: 'failed'; readonly names: readonly string[]; readonly attempts: AttemptsRecord }
  | { readonly kind: 'revoked'; readonly names: readonly string[]; readonly by: string }
  | { readonly kind: 'account key changed'; readonly by: string };

interface JobsOptions {
  readonly work: Work;
  certificateInUse(id: string): LoadedCertificate | undefined;
  readonly readPair: ReadPair;
  readonly random: () => number;
  onEvent(event: AcmeEvent): void;
}

/**
 * The errors of a server that does not know the key in the store: it has lost the account, or the store has lost a later key of the
 * account. In both cases the gateway registers the key in the store, which changes nothing if the server knows it.
 */
const ACCOUNT_LOST: readonly (string | undefined)[] = ['accountDoesNotExist', 'malformed'];

/** The author of orders that no operator has requested. */
const BY_ITSELF = 'acme';

export class DueJobs {
  readonly #options: JobsOptions;
  readonly #work: Work;
  #signer: AccountSigner | undefined;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#work = options.work;
  }

  /** Does all work that is due. Records failures of the server. Rejects with LeaseLost, or if the store cannot be reached. */
  async run(): Promise<void> {
    const { settings, journal, seal, now } = this.#work;
    const { certificateInUse } = this.#options;
    if (this.#records().get(SEAL_RECORD) === undefined) await journal.write({ [SEAL_RECORD]: seal.fingerprint });
    await this.#putBack();
    if (recordIn(this.#records(), 'asked', SERVER)?.kind === 'account key')
      await this.#attempt(SERVER, [], () => this.#replaceAccountKey());
    for (const names of settings.certificates) {
      const id = recordIdOf(names);
      const due = dueFor(id, this.#records(), certificateInUse(id), now());
      if (due !== undefined) await this.#attempt(id, names, () => this.#jobFor(due, id, names));
    }
  }

  /** Restores certificates that this instance has, but the store has lost. */
  async #putBack(): Promise<void> {
    const { settings, journal } = this.#work;
    for (const id of settings.certificates.map(recordIdOf)) {
      const name = recordName('certificate', id);
      const text = this.#options.certificateInUse(id)?.text;
      if (text !== undefined && !this.#records().has(name)) await journal.write({ [name]: text });
    }
  }

  #jobFor(due: DueWork, id: string, names: readonly string[]): Promise<void> {
    const { work, certificateInUse, random } = this.#options;
    if (due === 'read renewal') return readRenewalInformation(work, id, certificateInUse(id)?.certificateId, random);
    return due === 'revoke' ? this.#revoke(id, names) : this.#order(id, names);
  }

  async #account(): Promise<AccountSigner> {
    this.#signer ??= await openAccount(this.#work);
    return this.#signer;
  }

  /** Runs a job. If it fails, records the failure with the time of the next attempt. */
  async #attempt(id: string, names: readonly string[], job: () => Promise<void>): Promise<void> {
    try {
      await this.#repeatIfAccountIsLost(job);
    } catch (error) {
      if (error instanceof LeaseLost || error instanceof StoreAway) throw error;
      // After a fault of the gateway, too, the next attempt must wait.
      await this.#noteFailure(
        id,
        names,
        error instanceof AcmeFailure ? error : new AcmeFailure('refused', String(error)),
      );
    }
  }

  /** Runs a job. If the server no longer knows the account or its key, registers the key and runs the job once more. */
  async #repeatIfAccountIsLost(job: () => Promise<void>): Promise<void> {
    try {
      await job();
    } catch (error) {
      if (!(error instanceof AcmeFailure && ACCOUNT_LOST.includes(error.type))) throw error;
      this.#signer = undefined;
      await forgetAccount(this.#work);
      await job();
    }
  }

  async #noteFailure(id: string, names: readonly string[], failure: AcmeFailure): Promise<void> {
    const { journal, now } = this.#work;
    const { random, onEvent } = this.#options;
    const { kind, retryAfterMs, message: reason } = failure;
    // A failure of the server, or one before the account is open, delays the work for all certificates.
    const concerned = kind === 'server' || this.#signer === undefined ? SERVER : id;
    const failures = (recordIn(this.#records(), 'attempts', concerned)?.failures ?? 0) + 1;
    const atMs = now();
    const nextAtMs = atMs + nextAttemptAfterMs({ kind, failures, retryAfterMs, random });
    const attempts = { failures, kind, reason, atMs, nextAtMs };
    const isOver = kind === 'refused' && this.#signer !== undefined;
    await journal.write({
      ...change('attempts', concerned, attempts),
      ...change('asked', id, undefined),
      // A revocation that an operator requests during this work is not in these records, so its request is kept.
      ...(revocationAsked(this.#records(), id) && change('revocation', id, undefined)),
      ...(isOver && changesToForget(id)),
    });
    onEvent({ kind: 'failed', names, attempts });
  }

  async #order(id: string, names: readonly string[]): Promise<void> {
    const { settings, journal, seal, now } = this.#work;
    const { certificateInUse, readPair, onEvent } = this.#options;
    const by = this.#askedBy(id);
    const former = certificateInUse(id);
    const pair = await orderCertificate(this.#work, await this.#account(), names, former?.certificateId);
    const shown = readPair(pair.certificate, seal.open(pair.key, sealedAs(id)), names);
    if ('reason' in shown) throw unusable(shown.reason);
    const problem = timeProblem(shown, now());
    if (problem !== undefined) throw unusable(problem);
    const certificate = { ...pair, names, directory: settings.directory, issuedAtMs: now() };
    await journal.write({
      ...change('certificate', id, certificate),
      ...changesToForget(id),
      ...change('attempts', id, undefined),
      ...change('attempts', SERVER, undefined),
      ...change('renewal', id, undefined),
      ...change('asked', id, undefined),
    });
    onEvent({ kind: 'issued', names, expiresAtMs: shown.expiresAtMs, by });
  }

  async #revoke(id: string, names: readonly string[]): Promise<void> {
    const asked = revocationAsked(this.#records(), id);
    if (asked === undefined) return;
    const { client, journal, now } = this.#work;
    const { onEvent } = this.#options;
    const { revokeCert } = await client.directory();
    const certificate = new X509Certificate(asked.certificate).raw.toString('base64url');
    try {
      await client.post(revokeCert, await this.#account(), { certificate });
    } catch (error) {
      if (!(error instanceof AcmeFailure && error.type === 'alreadyRevoked')) throw error;
    }
    const record = recordIn(this.#records(), 'certificate', id);
    const isInUse = record?.certificate === asked.certificate;
    await journal.write({
      ...(isInUse && change('certificate', id, { ...record, revokedAtMs: now() })),
      ...change('revocation', id, { ...asked, doneAtMs: now() }),
    });
    onEvent({ kind: 'revoked', names, by: asked.by });
    if (isInUse) await this.#order(id, names);
  }

  async #replaceAccountKey(): Promise<void> {
    const by = this.#askedBy(SERVER);
    await this.#account();
    await changeAccountKey(this.#work);
    this.#signer = undefined;
    await this.#work.journal.write(change('asked', SERVER, undefined));
    this.#options.onEvent({ kind: 'account key changed', by });
  }

  #records(): AcmeRecords {
    return this.#work.journal.records();
  }

  #askedBy(id: string): string {
    return recordIn(this.#records(), 'asked', id)?.by ?? BY_ITSELF;
  }
}

const changesToForget = (id: string): AcmeChanges => ({
  ...change('order', id, undefined),
  ...change('challenges', id, undefined),
});

function unusable(reason: string): AcmeFailure {
  return new AcmeFailure('refused', `The issued certificate cannot be used, so the former one stays: ${reason}`);
}

function timeProblem({ validFromMs, expiresAtMs }: CertificateLife, nowMs: number): string | undefined {
  if (nowMs < validFromMs) return 'it is not valid yet; is the clock of this machine right?';
  return nowMs >= expiresAtMs ? 'it has expired; is the clock of this machine right?' : undefined;
}
