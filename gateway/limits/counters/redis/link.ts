// The connection to one Redis server, with its health. A call gets its reply before the deadline, or fails. One failed call marks the link
// as down for all callers. Only a successful probe marks the link as up again.

import { type ConnectRedis, connectRedis } from '../../../redis/client.ts';
import { type Machine, REAL_MACHINE, type Timer } from '../../../shared/machine.ts';
import { createCalls } from './calls.ts';
import { encodeCharges, extendExpiryOfAll, type ScriptReply } from './window-script.ts';

/**
 * The charge of a probe. A probe runs the script and writes a counter, because PING would succeed on a server that is read-only or full.
 */
const PROBE = { policy: 'probe', requests: 1_000_000_000, windowSeconds: 1, windowMs: 1000, cost: 1, enforce: true };

const AWAY = 'Redis is away';

export interface RedisLinkOptions {
  readonly url: string;
  /** Longest time that a call waits for its reply. */
  readonly deadlineMs: number;
  /** The time between two probes while the server cannot be reached. */
  readonly probeEveryMs: number;
  /** A key that this server holds. */
  readonly probeKey: () => string;
  readonly onChange: (up: boolean, reason: string) => void;
  /** Called when a Cluster server has rejected a key that it does not hold, or no longer holds. */
  readonly onMisplaced?: () => void;
  readonly connect?: ConnectRedis | undefined;
  readonly machine?: Machine | undefined;
}

export interface RedisLink {
  isUp(): boolean;
  /**
   * Decides a batch. Rejects if the link is down, goes down, or misses the deadline.
   *
   * @param clockMs epoch milliseconds; 0: the server's clock
   * @param encodedCharges concatenated results of `encodeCharges`
   */
  run(clockMs: number, encodedCharges: string): Promise<ScriptReply>;
  /** Deletes counters. Rejects while the link is down. */
  remove(keys: readonly string[]): Promise<void>;
  /** As in `CounterStore`. Rejects while the link is down. */
  extendExpiry(windowMs: number): Promise<void>;
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly firstAttempt: Promise<void>;
  close(): void;
}

/** Connects at once and stays connected until closed. */
export function createRedisLink({ probeKey, probeEveryMs, onChange, ...options }: RedisLinkOptions): RedisLink {
  const { connect = connectRedis, machine = REAL_MACHINE } = options;
  const { performance, setTimeout, clearTimeout } = machine;
  const client = connect({ url: options.url, onReady: probe, onLost: goDown });
  const calls = createCalls(client, options.deadlineMs, onFailure, machine);
  const firstAttempt = Promise.withResolvers<void>();
  let up: boolean | undefined;
  let closed = false;
  let probing = false;
  let probedAt = Number.NEGATIVE_INFINITY;
  let nextProbe: Timer | undefined;

  function onFailure(cause: Error): void {
    // The server works but no longer holds the slot of the key.
    if (up && isWrongNode(cause)) options.onMisplaced?.();
    else goDown(cause);
  }

  function goDown(cause: Error): void {
    if (up === false) return;
    up = false;
    firstAttempt.resolve();
    calls.failAll(cause);
    if (!closed) onChange(false, cause.message);
    probeLater();
  }

  function probeLater(): void {
    clearTimeout(nextProbe);
    nextProbe = setTimeout(probe, probeEveryMs).unref();
  }

  async function probe(): Promise<void> {
    // If the client is not ready, no probe is sent, because `onReady` starts the next probe.
    if (up || closed || probing || client.status !== 'ready') return;
    // A minimum time lies between two probes, because otherwise a server that accepts connections and refuses writes would be probed
    // without a pause.
    if (performance.now() < probedAt + probeEveryMs / 2) return probeLater();
    probing = true;
    probedAt = performance.now();
    try {
      await calls.run(0, encodeCharges([{ ...PROBE, key: probeKey() }]));
      up = !closed;
      firstAttempt.resolve();
      if (up) onChange(true, 'the counters can be written');
    } catch (cause) {
      if (isWrongNode(cause as Error)) options.onMisplaced?.();
      probeLater();
    } finally {
      probing = false;
    }
  }

  return {
    isUp: () => up === true,
    run: (clockMs, encodedCharges) => (up ? calls.run(clockMs, encodedCharges) : Promise.reject(new Error(AWAY))),
    async remove(keys) {
      if (!up) throw new Error(AWAY);
      await client.del(...keys);
    },
    async extendExpiry(windowMs) {
      if (!up) throw new Error(AWAY);
      await extendExpiryOfAll(client, windowMs);
    },
    firstAttempt: firstAttempt.promise,
    close() {
      closed = true;
      goDown(new Error('the store was closed'));
      clearTimeout(nextProbe);
      client.disconnect();
    },
  };
}

/** Whether a Cluster server rejected a key that is on another server. */
function isWrongNode({ message }: Error): boolean {
  return message.includes('non local key') || message.startsWith('MOVED ') || message.startsWith('ASK ');
}
