// Follows the key set of one issuer. It reads the set at start, at intervals, and when a token names an unknown key. While the issuer
// cannot be reached, the last good set stays in use. An answer must be JSON of bounded size.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Awaitable } from '../../shared/awaitable.ts';
import { boundedFetch } from '../../shared/http/bounded-fetch.ts';
import { findIn, isSameKeySet, type KeySet, toKeySet, type VerifyingKey } from './issuer-key-set.ts';

/**
 * The least time between two reads that tokens trigger. Without it, a client that invents key names would cause a request to the issuer
 * with each token.
 */
const COOLDOWN_MS = 5_000;

export interface IssuerKeysOptions {
  readonly jwksUrl: string;
  readonly algorithms: readonly string[];
  readonly refreshSeconds: number;
  now(): number;
  /** Called with the reason when the keys can no longer be read, and with undefined when they can be read again. */
  onHealth(reason: string | undefined): void;
  /** Interval at which the clock is checked. */
  readonly tickMs?: number;
  readonly timeoutMs?: number;
}

export interface IssuerKeysStatus {
  readonly keys: readonly { readonly kid: string | undefined; readonly algorithm: string }[];
  /** Epoch milliseconds of the last successful read. */
  readonly readAtMs: number | undefined;
  /** Reason of the last failure, for operators only; undefined after a success. */
  readonly failure: string | undefined;
}

/** Starts the first read at once; the timer does not keep the process alive. */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #set: KeySet | undefined;
  #readAtMs: number | undefined;
  #failure: string | undefined;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #dueAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
    void this.#refresh();
    this.#timer = setInterval(
      () => this.#isPast(this.#dueAtMs) && void this.#refresh(),
      options.tickMs ?? 1000,
    ).unref();
  }

  /** Throws token_invalid if the issuer has no such key, auth_unavailable if the keys cannot be read. */
  find(kid: string | undefined, algorithm: string): Awaitable<VerifyingKey> {
    const found = findIn(this.#set, kid, algorithm);
    if (found.outcome === 'found') return found.key;
    if (found.outcome === 'unfit') throw new GatewayError('token_invalid', { hint: 'key' });
    return this.#findAnew(kid, algorithm);
  }

  /** Returns the key set, as the same object until a key changes. */
  current(): KeySet | undefined {
    return this.#set;
  }

  /** Resolves when the current read has succeeded or failed. */
  async ready(): Promise<void> {
    await this.#reading;
  }

  status(): IssuerKeysStatus {
    const keys = this.#set?.keys.map(({ kid, algorithm }) => ({ kid, algorithm })) ?? [];
    return { keys, readAtMs: this.#readAtMs, failure: this.#failure };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#closing.abort();
  }

  async #findAnew(kid: string | undefined, algorithm: string): Promise<VerifyingKey> {
    if (this.#reading !== undefined || this.#isPast(this.#triedAtMs + COOLDOWN_MS)) await this.#refresh();
    const found = findIn(this.#set, kid, algorithm);
    if (found.outcome === 'found') return found.key;
    if (this.#failure === undefined || found.outcome === 'unfit')
      throw new GatewayError('token_invalid', { hint: 'key' });
    throw new GatewayError('auth_unavailable', { cause: new Error(`The keys of an issuer: ${this.#failure}`) });
  }

  #refresh(): Promise<void> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { jwksUrl, algorithms, timeoutMs = 5000 } = this.#options;
    try {
      const latest = await toKeySet(await fetchKeySet(jwksUrl, timeoutMs, this.#closing.signal), algorithms);
      if (!isSameKeySet(this.#set, latest)) this.#set = latest;
      this.#conclude(undefined);
    } catch (cause) {
      this.#conclude((cause as Error).message);
    }
    this.#reading = undefined;
  }

  #conclude(reason: string | undefined): void {
    const { refreshSeconds, now, onHealth } = this.#options;
    const isNews = (reason === undefined) !== (this.#failure === undefined);
    this.#failure = reason;
    this.#triedAtMs = now();
    if (reason === undefined) this.#readAtMs = this.#triedAtMs;
    const delayMs = reason === undefined ? refreshSeconds * 1000 : Math.min(refreshSeconds * 1000, COOLDOWN_MS);
    // The jitter keeps instances that started together from reading together forever.
    this.#dueAtMs = this.#triedAtMs + delayMs * (0.8 + 0.2 * Math.random());
    if (isNews && !this.#closing.signal.aborted) onHealth(reason);
  }

  /**
   * Whether this time has passed since the last attempt. Returns true if the clock was set back to before the attempt, because the age of
   * the attempt is then unknown.
   */
  #isPast(ms: number): boolean {
    const at = this.#options.now();
    return at >= ms || at < this.#triedAtMs;
  }
}

const BODY_BYTES_MAX = 1_048_576;
const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;

/**
 * Returns the body of the answer. Rejects with a reason for operators: unreachable, too slow, a status other than 200, not JSON, too long.
 * A redirect is refused like any status other than 200, because only the configuration determines where keys come from.
 */
export async function fetchKeySet(url: string, timeoutMs: number, signal: AbortSignal): Promise<string> {
  const headers = { accept: 'application/json' };
  const { body } = await boundedFetch(url, { headers, timeoutMs, signal, bytesMax: BODY_BYTES_MAX, faultOf });
  return body.toString('utf8');
}

function faultOf({ status, headers }: Response): string | undefined {
  if (status !== 200) return `it answered with status ${status}`;
  return JSON_TYPE.test(headers.get('content-type') ?? '') ? undefined : 'its answer is not declared to be JSON';
}
