// Keeps the certificates of `tls.acme`: follows the records of the store, and does the work that is due while this instance has the lease.

import { type Machine, realMachine, type Timer } from '../shared/machine.ts';
import type { TextSeal } from '../shared/stores/seal.ts';
import { createAcmeClient } from './acme-client.ts';
import type { HttpClient } from './acme-http.ts';
import type { AcmeRecords, AcmeStore } from './acme-store.ts';
import { dueFor } from './due.ts';
import { LeaseLost } from './failure.ts';
import { type AcmeEvent, createJobs } from './jobs.ts';
import { certificateIdFor, recordIn, recordName, SEAL_RECORD, SERVER } from './records.ts';
import {
  type AcmeView,
  createView,
  type KeptCertificate,
  keptIn,
  type ReadPair,
  type ShownCertificate,
} from './view.ts';
import { type AcmeSettings, createJournal, createPause } from './work.ts';

/** Interval between two reads of the store. An announcement may be lost, and all instances must use a new certificate within a second. */
const LOOK_MS = 750;
/** By a third longer than a request to the server may take, so that the holder keeps the lease while it waits for an answer. */
const LEASE_MS = 20_000;
/** How long an instance that ends waits for the answer to its last request, so that what the server has made is stored. */
const LAST_ANSWER_MS = 5000;
/** An instance whose clock differs this much from the store's clock takes the server's certificate for expired or not yet valid. */
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
  /** The clock of this machine. The times of records are by the clock of the store. */
  now(): number;
  readonly machine?: Machine;
  readonly leaseMs?: number;
  /** The certificates to show have changed. */
  onCertificates(all: readonly ShownCertificate[]): void;
  onEvent(event: AcmeEvent): void;
  /** A record cannot be used. */
  onUnusable(id: string, reason: string): void;
  /** With the reason when the store can no longer be read, and with undefined when it can be read again. */
  onStore(reason: string | undefined): void;
}

export interface Keeper {
  /** Reads the store. Rejects with a sentence if the records were sealed with another `certificate_key`. */
  open(): Promise<void>;
  /** Begins to order: the listeners can answer challenges now. */
  begin(): void;
  shown(): readonly ShownCertificate[];
  readonly answers: ChallengeAnswers;
  kept(): readonly KeptCertificate[];
  /** Ends the work in progress after the answer to its last request; another instance continues it. */
  close(): Promise<void>;
}

interface ChallengeAnswers {
  /** Whether the name belongs to a configured certificate. */
  isConfigured(name: string): boolean;
  /** The certificate that answers a validation of the name; undefined if none is known here. */
  known: AcmeView['challengeFor'];
  /** Like `known`, but reads the store first if this instance knows no certificate for the name. */
  find(name: string): Promise<ReturnType<AcmeView['challengeFor']>>;
  /** The key authorization of a token of http-01. */
  findToken(token: string): Promise<string | undefined>;
}

export function createKeeper(options: KeeperOptions): Keeper {
  const { store, seal, settings, http, readPair, machine = realMachine, leaseMs = LEASE_MS, onEvent } = options;
  const { setInterval, clearInterval, setTimeout, clearTimeout, random } = machine;
  const { now } = store;
  const configured = new Set(settings.certificates.flat());
  const view = createView({ ...options, certificates: settings.certificates });
  /** This instance begins nothing more. */
  const ended = new AbortController();
  /** This instance no longer waits for the answer to its last request. */
  const cutOff = new AbortController();
  let records: AcmeRecords = new Map();
  let looking: Promise<void> | undefined;
  let working: Promise<void> | undefined;
  let storeFailure: string | undefined;
  let timer: Timer | undefined;
  let unsubscribe: (() => void) | undefined;

  async function refresh(): Promise<void> {
    const next = await store.read();
    if (next === records) return;
    checkSeal(next);
    records = next;
    if (view.use(next)) options.onCertificates(view.shown());
  }

  function checkSeal(next: AcmeRecords): void {
    const fingerprint = next.get(SEAL_RECORD);
    if (fingerprint === undefined || fingerprint === seal.fingerprint) return;
    throw new Error(
      'The private keys of certificates in the store were encrypted with another certificate_key. Restore that secrets entry on this instance.',
    );
  }

  async function look(): Promise<void> {
    try {
      await refresh();
      noteStore(undefined);
    } catch (error) {
      noteStore((error as Error).message);
      return;
    }
    if (timer !== undefined && working === undefined && !ended.signal.aborted && isAnyDue()) {
      working = workOnce().finally(() => {
        working = undefined;
      });
    }
  }

  /** One look at a time. */
  function lookSoon(): Promise<void> {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  function noteStore(reason: string | undefined): void {
    if (reason === storeFailure) return;
    storeFailure = reason;
    if (!ended.signal.aborted) options.onStore(reason);
  }

  function isAnyDue(): boolean {
    if (recordIn(records, 'asked', SERVER) !== undefined) return true;
    const ids = settings.certificates.map(certificateIdFor);
    const isLost = (id: string) => view.held(id) !== undefined && !records.has(recordName('certificate', id));
    const nowMs = now() - (isClockWrong() ? WRONG_CLOCK_WAIT_MS : 0);
    return ids.some((id) => isLost(id) || dueFor(id, records, view.held(id), nowMs) !== undefined);
  }

  function isClockWrong(): boolean {
    return Math.abs(options.now() - now()) > WRONG_CLOCK_MS;
  }

  /** Takes the lease, does the work that is due, and gives the lease back. If another instance has the lease, that one does the work. */
  async function workOnce(): Promise<void> {
    let token: number | undefined;
    try {
      token = await store.take(leaseMs);
      if (token === undefined) return;
      // Read under the lease: the previous holder may have done the work.
      await refresh();
      const journal = createJournal({ store, token, leaseMs, records, performance: machine.performance });
      const client = createAcmeClient({
        ...{ directoryUrl: settings.directory, http, now },
        async before() {
          ended.signal.throwIfAborted();
          await journal.confirm();
        },
        signal: cutOff.signal,
      });
      const pause = createPause(journal, leaseMs / 4, ended.signal, machine);
      const work = { settings, client, journal, seal, now, pause, machine };
      await createJobs({ work, held: view.held, readPair, random, onEvent }).run();
      await refresh();
    } catch (error) {
      if (error instanceof LeaseLost || ended.signal.aborted) return;
      noteStore((error as Error).message);
    } finally {
      // The server may still take up a request that was cut off: until it cannot, the lease keeps the others away.
      if (token !== undefined && !cutOff.signal.aborted)
        await Promise.resolve(store.release(token)).catch(() => undefined);
    }
  }

  const answers: ChallengeAnswers = {
    isConfigured: (name) => configured.has(name),
    known: view.challengeFor,
    async find(name) {
      if (view.challengeFor(name) === undefined) await lookSoon();
      return view.challengeFor(name);
    },
    async findToken(token) {
      if (view.keyAuthorizationOf(token) === undefined) await lookSoon();
      return view.keyAuthorizationOf(token);
    },
  };

  return {
    async open() {
      try {
        await refresh();
      } catch (error) {
        if (records.size === 0 && /certificate_key/.test((error as Error).message)) throw error;
        noteStore((error as Error).message);
      }
    },
    begin() {
      timer = setInterval(lookSoon, LOOK_MS).unref();
      unsubscribe = store.subscribe(() => void lookSoon());
      void lookSoon();
    },
    shown: view.shown,
    answers,
    kept: () => settings.certificates.map((names) => keptIn(records, view, names)),
    async close() {
      clearInterval(timer);
      unsubscribe?.();
      ended.abort(new LeaseLost());
      const waiting = setTimeout(() => cutOff.abort(new LeaseLost()), LAST_ANSWER_MS);
      await working;
      clearTimeout(waiting);
      await looking;
      http.close();
      store.close();
    },
  };
}
