// The keys of one issuer as they are now: read at once, anew every so often, and when a token names one that nobody has seen yet. The last
// good ones are kept for as long as there are no newer ones, so an issuer that is away takes nobody out whose key is known.

import { GatewayError } from '../../errors.ts';
import type { Awaitable } from '../../exchange.ts';
import { fetchKeySet } from './issuer-fetch.ts';
import { findIn, isSameKeySet, type KeySet, toKeySet, type VerifyingKey } from './issuer-key-set.ts';

/** Between two attempts that tokens bring about: whoever makes up names of keys must not make the gateway ask for each. */
const COOLDOWN_MS = 5_000;

export interface IssuerKeysOptions {
  readonly jwksUrl: string;
  readonly algorithms: readonly string[];
  readonly refreshSeconds: number;
  now(): number;
  /** The keys cannot be read any more, for this reason; or they can again. */
  onHealth(reason: string | undefined): void;
  /** How often the clock is looked at. */
  readonly tickMs?: number;
  readonly timeoutMs?: number;
}

export interface IssuerKeysStatus {
  readonly keys: readonly { readonly kid: string | undefined; readonly algorithm: string }[];
  /** Of the last time that succeeded, epoch milliseconds. */
  readonly readAtMs: number | undefined;
  /** Why the last attempt failed, for operators only. */
  readonly failure: string | undefined;
}

export interface IssuerKeys {
  /** Throws token_invalid if the issuer has no such key, auth_unavailable if that cannot be known. */
  find(kid: string | undefined, algorithm: string): Awaitable<VerifyingKey>;
  /** The same object until something about the keys changes. */
  current(): KeySet | undefined;
  /** Resolves when the attempt that is being made has succeeded or failed. */
  ready(): Promise<void>;
  status(): IssuerKeysStatus;
  close(): void;
}

/** Begins to read at once; the timer does not keep the process alive. */
export function createIssuerKeys(options: IssuerKeysOptions): IssuerKeys {
  const { jwksUrl, algorithms, refreshSeconds, now, onHealth, tickMs = 1000, timeoutMs = 5000 } = options;
  const closing = new AbortController();
  let set: KeySet | undefined;
  let readAtMs: number | undefined;
  let failure: string | undefined;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let dueAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  function conclude(reason: string | undefined): void {
    const isNews = (reason === undefined) !== (failure === undefined);
    failure = reason;
    triedAtMs = now();
    if (reason === undefined) readAtMs = triedAtMs;
    const delayMs = reason === undefined ? refreshSeconds * 1000 : Math.min(refreshSeconds * 1000, COOLDOWN_MS);
    // Instances that started together need not ask together for ever.
    dueAtMs = triedAtMs + delayMs * (0.8 + 0.2 * Math.random());
    if (isNews && !closing.signal.aborted) onHealth(reason);
  }

  async function read(): Promise<void> {
    try {
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)]);
      const latest = await toKeySet(await fetchKeySet(jwksUrl, signal), algorithms);
      if (!isSameKeySet(set, latest)) set = latest;
      conclude(undefined);
    } catch (cause) {
      conclude((cause as Error).message);
    }
    reading = undefined;
  }

  function refresh(): Promise<void> {
    reading ??= read();
    return reading;
  }

  /** Also when the clock was set back behind the last attempt: nobody knows then how long ago that was. */
  function isPast(ms: number): boolean {
    const at = now();
    return at >= ms || at < triedAtMs;
  }

  async function findAnew(kid: string | undefined, algorithm: string): Promise<VerifyingKey> {
    if (reading !== undefined || isPast(triedAtMs + COOLDOWN_MS)) await refresh();
    const found = findIn(set, kid, algorithm);
    if (found.outcome === 'found') return found.key;
    if (failure === undefined || found.outcome === 'unfit') throw new GatewayError('token_invalid', { hint: 'key' });
    throw new GatewayError('auth_unavailable', { cause: new Error(`The keys of an issuer: ${failure}`) });
  }

  void refresh();
  const timer = setInterval(() => isPast(dueAtMs) && void refresh(), tickMs).unref();

  return {
    find(kid, algorithm) {
      const found = findIn(set, kid, algorithm);
      if (found.outcome === 'found') return found.key;
      if (found.outcome === 'unfit') throw new GatewayError('token_invalid', { hint: 'key' });
      return findAnew(kid, algorithm);
    },
    current: () => set,
    ready: async () => reading,
    status: () => ({ keys: set?.keys.map(({ kid, algorithm }) => ({ kid, algorithm })) ?? [], readAtMs, failure }),
    close() {
      clearInterval(timer);
      closing.abort();
    },
  };
}
