// Keeps the certificates of `tls.acme` up to date. Each instance follows the records in the store. The instance with the lease also orders
// and renews certificates. Reasons: docs/decisions/0030-acme.md. The calls from a check of the store to a new certificate:
//
//   Keeper ─> dueFor                       decides which work is due (due.ts)
//     ─> DueJobs.run                       does it under the lease, one certificate after the other (jobs.ts)
//     ─> openAccount ─> orderCertificate   ask the server (account.ts, order.ts, acme-client.ts)
//     ─> Journal.write                     stores the result of each step (journal.ts)
//   AcmeView                               reads the records for the listeners of each instance (view.ts)

import { type Machine, REAL_MACHINE, type Timer } from '../shared/machine.ts';
import type { TextSeal } from '../shared/stores/seal.ts';
import { createAcmeClient } from './acme-client.ts';
import { type HttpClient, REQUEST_MAX_MS } from './acme-http.ts';
import type { AcmeRecords, AcmeStore } from './acme-store.ts';
import { dueFor } from './due.ts';
import { LeaseLost, WrongSeal } from './failure.ts';
import { type AcmeEvent, DueJobs } from './jobs.ts';
import { createJournal, createPause } from './journal.ts';
import { recordIdOf, recordIn, recordName, SEAL_RECORD, SERVER } from './records.ts';
import {
  AcmeView,
  type ConfiguredCertificate,
  configuredCertificateIn,
  type ReadPair,
  type ShownCertificate,
} from './view.ts';
import type { AcmeSettings } from './work.ts';

/**
 * The interval between two reads of the store. It is below a second, because all instances must use a new certificate within a second, even
 * if its announcement is lost.
 */
const CHECK_MS = 750;
/** The duration of the lease. The lease must not expire during a request to the server. */
const LEASE_MS = (REQUEST_MAX_MS * 4) / 3;
/** How long an instance that ends waits for the answer to its last request, so that it can store the result. */
const LAST_ANSWER_MS = 5000;
/** If its clock differs this much from the store's clock, an instance may consider the server's certificate expired or not yet valid. */
const WRONG_CLOCK_MS = 3_600_000;
/**
 * How long an instance with a wrong clock leaves the work to the others. If the clock of the store is wrong, all instances wait this long.
 */
const WRONG_CLOCK_WAIT_MS = 60_000;

interface KeeperOptions {
  readonly store: AcmeStore;
  readonly seal: TextSeal;
  readonly settings: AcmeSettings;
  readonly http: HttpClient;
  readonly readPair: ReadPair;
  /** The clock of this machine. Times in records are by the clock of the store. */
  now(): number;
  readonly machine?: Machine;
  readonly leaseMs?: number;
  /** Called when a certificate for listeners has changed. */
  onCertificates(all: readonly ShownCertificate[]): void;
  onEvent(event: AcmeEvent): void;
  /** Called for a record that cannot be used. */
  onUnusable(id: string, reason: string): void;
  /** Called with a reason when the store can no longer be read, and with undefined when it can be read again. */
  onStore(reason: string | undefined): void;
}

interface ChallengeAnswers {
  /** Whether the name belongs to a configured certificate. */
  isConfigured(name: string): boolean;
  /** Returns the challenge certificate of a name, if this instance knows it. */
  pairFor: AcmeView['challengeFor'];
  /** Returns the challenge certificate of a name. If this instance does not know it, reads the store first. */
  find(name: string): Promise<ReturnType<AcmeView['challengeFor']>>;
  /** Returns the key authorization of a token of http-01. */
  findKeyAuthorization(token: string): Promise<string | undefined>;
}

export class Keeper {
  readonly answers: ChallengeAnswers;
  readonly #options: KeeperOptions;
  readonly #machine: Machine;
  readonly #leaseMs: number;
  readonly #view: AcmeView;
  /** Aborted when this instance begins to end, so that it starts no new request. */
  readonly #ended = new AbortController();
  /** Aborted when this instance stops waiting for the answer to its last request. */
  readonly #cutOff = new AbortController();
  #records: AcmeRecords = new Map();
  #checking: Promise<void> | undefined;
  #working: Promise<void> | undefined;
  #storeFailure: string | undefined;
  #timer: Timer | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(options: KeeperOptions) {
    const { settings, machine = REAL_MACHINE, leaseMs = LEASE_MS } = options;
    this.#options = options;
    this.#machine = machine;
    this.#leaseMs = leaseMs;
    this.#view = new AcmeView({ ...options, certificates: settings.certificates });
    this.answers = this.#createAnswers(new Set(settings.certificates.flat()));
  }

  #createAnswers(configured: ReadonlySet<string>): ChallengeAnswers {
    const view = this.#view;
    return {
      isConfigured: (name) => configured.has(name),
      pairFor: (name) => view.challengeFor(name),
      find: async (name) => {
        if (view.challengeFor(name) === undefined) await this.#check();
        return view.challengeFor(name);
      },
      findKeyAuthorization: async (token) => {
        if (view.keyAuthorizationOf(token) === undefined) await this.#check();
        return view.keyAuthorizationOf(token);
      },
    };
  }

  /** Reads the store. Rejects with an Error for operators if the records were sealed with another `certificate_key`. */
  async open(): Promise<void> {
    try {
      await this.#refresh();
    } catch (error) {
      if (this.#records.size === 0 && error instanceof WrongSeal) throw error;
      this.#noteStore((error as Error).message);
    }
  }

  /** Allows orders. Call it when the listeners can answer challenges. */
  begin(): void {
    this.#timer = this.#machine.setInterval(() => this.#check(), CHECK_MS).unref();
    this.#unsubscribe = this.#options.store.subscribe(() => void this.#check());
    void this.#check();
  }

  shown(): readonly ShownCertificate[] {
    return this.#view.shownCertificates();
  }

  kept(): readonly ConfiguredCertificate[] {
    return this.#options.settings.certificates.map((names) =>
      configuredCertificateIn(this.#records, this.#view, names),
    );
  }

  /** Waits for the answer to the last request, and stops. Another instance continues the work. */
  async close(): Promise<void> {
    const { clearInterval, setTimeout, clearTimeout } = this.#machine;
    clearInterval(this.#timer);
    this.#unsubscribe?.();
    this.#ended.abort(new LeaseLost());
    const waiting = setTimeout(() => this.#cutOff.abort(new LeaseLost()), LAST_ANSWER_MS);
    await this.#working;
    clearTimeout(waiting);
    await this.#checking;
    this.#options.http.close();
    this.#options.store.close();
  }

  async #refresh(): Promise<void> {
    const next = await this.#options.store.read();
    if (next === this.#records) return;
    this.#checkSeal(next);
    this.#records = next;
    if (this.#view.use(next)) this.#options.onCertificates(this.#view.shownCertificates());
  }

  #checkSeal(next: AcmeRecords): void {
    const fingerprint = next.get(SEAL_RECORD);
    if (fingerprint === undefined || fingerprint === this.#options.seal.fingerprint) return;
    throw new WrongSeal(
      'The private keys of certificates in the store were encrypted with another certificate_key. Restore that secrets entry on this instance.',
    );
  }

  /** Reads the store, and starts the work that is due. One check runs at a time. */
  #check(): Promise<void> {
    this.#checking ??= this.#checkOnce().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkOnce(): Promise<void> {
    try {
      await this.#refresh();
      this.#noteStore(undefined);
    } catch (error) {
      this.#noteStore((error as Error).message);
      return;
    }
    const mayWork = this.#timer !== undefined && this.#working === undefined && !this.#ended.signal.aborted;
    if (!mayWork || !this.#isAnyDue()) return;
    this.#working = this.#workOnce().finally(() => {
      this.#working = undefined;
    });
  }

  #noteStore(reason: string | undefined): void {
    if (reason === this.#storeFailure) return;
    this.#storeFailure = reason;
    if (!this.#ended.signal.aborted) this.#options.onStore(reason);
  }

  #isAnyDue(): boolean {
    const records = this.#records;
    const certificateInUse = (id: string) => this.#view.certificateInUse(id);
    if (recordIn(records, 'asked', SERVER) !== undefined) return true;
    const ids = this.#options.settings.certificates.map(recordIdOf);
    const isLost = (id: string) => certificateInUse(id) !== undefined && !records.has(recordName('certificate', id));
    const nowMs = this.#options.store.now() - (this.#isClockWrong() ? WRONG_CLOCK_WAIT_MS : 0);
    return ids.some((id) => isLost(id) || dueFor(id, records, certificateInUse(id), nowMs) !== undefined);
  }

  #isClockWrong(): boolean {
    return Math.abs(this.#options.now() - this.#options.store.now()) > WRONG_CLOCK_MS;
  }

  /** Takes the lease, does the work that is due, and gives the lease back. Does nothing if another instance has the lease. */
  async #workOnce(): Promise<void> {
    const { store } = this.#options;
    let token: number | undefined;
    try {
      token = await store.take(this.#leaseMs);
      if (token === undefined) return;
      // The records are read again under the lease, because the previous holder may have done the work.
      await this.#refresh();
      await this.#workUnder(token);
      await this.#refresh();
    } catch (error) {
      if (error instanceof LeaseLost || this.#ended.signal.aborted) return;
      this.#noteStore((error as Error).message);
    } finally {
      // After a request that was cut off, the lease is not given back. The server may still process the request, so other instances have to
      // wait until the lease expires.
      if (token !== undefined && !this.#cutOff.signal.aborted)
        await Promise.resolve(store.release(token)).catch(() => undefined);
    }
  }

  /** @param token of the lease */
  async #workUnder(token: number): Promise<void> {
    const { store, seal, settings, http, readPair, onEvent } = this.#options;
    const { now } = store;
    const machine = this.#machine;
    const leaseMs = this.#leaseMs;
    const { signal } = this.#ended;
    const journal = createJournal({ store, token, leaseMs, records: this.#records, machine });
    const client = createAcmeClient({
      directoryUrl: settings.directory,
      http,
      now,
      async before() {
        signal.throwIfAborted();
        await journal.confirm();
      },
      signal: this.#cutOff.signal,
    });
    const pause = createPause(journal, leaseMs / 4, signal, machine);
    const work = { settings, client, journal, seal, now, pause, machine };
    await new DueJobs({
      work,
      certificateInUse: (id) => this.#view.certificateInUse(id),
      readPair,
      random: machine.random,
      onEvent,
    }).run();
  }
}
