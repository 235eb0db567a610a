// The connection to Redis and what is known about its health. A call is answered within the deadline or fails; one failure
// takes the link down for everybody, and only a probe in the background brings it up again.

import { connectRedis, evaluate, type Redis } from '../redis.ts';
import { SCRIPT } from './redis-script.ts';

/** Any counter will do: what matters is that the script can write. PING would be answered by a server that is read-only or full. */
const PROBE = { keys: ['rl:{probe}'], args: ['', '1000000000 1000 1 1 1'] } as const;

export type Reply = readonly number[];

export interface RedisLinkOptions {
  readonly url: string;
  readonly deadlineMs: number;
  readonly probeEveryMs: number;
  readonly onChange: (up: boolean, reason: string) => void;
}

export interface RedisLink {
  isUp(): boolean;
  /** Runs the script once. Rejects when the link is down, goes down, or the deadline passes. */
  run(keys: readonly string[], args: readonly string[]): Promise<Reply>;
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly opened: Promise<void>;
  close(): void;
}

/** Connects at once and stays connected until closed. */
export function createRedisLink({ url, deadlineMs, probeEveryMs, onChange }: RedisLinkOptions): RedisLink {
  const client = connectRedis({ url, onReady: probe, onLost: goDown });
  const calls = createCalls(client, deadlineMs, goDown);
  const opened = Promise.withResolvers<void>();
  let up: boolean | undefined;
  let closed = false;
  let probing = false;
  let nextProbe: NodeJS.Timeout | undefined;

  function goDown(cause: Error): void {
    if (up === false) return;
    up = false;
    opened.resolve();
    calls.failAll(cause);
    if (!closed) onChange(false, cause.message);
    probeLater();
  }

  function probeLater(): void {
    clearTimeout(nextProbe);
    nextProbe = setTimeout(probe, probeEveryMs).unref();
  }

  async function probe(): Promise<void> {
    // A client that is not ready says so when it is, and that starts the next probe.
    if (up || closed || probing || client.status !== 'ready') return;
    probing = true;
    try {
      await calls.run(PROBE.keys, PROBE.args);
      up = !closed;
      opened.resolve();
      if (up) onChange(true, 'the counters can be written');
    } catch {
      probeLater();
    } finally {
      probing = false;
    }
  }

  return {
    isUp: () => up === true,
    run: (keys, args) => (up ? calls.run(keys, args) : Promise.reject(new Error('Redis is away'))),
    opened: opened.promise,
    close() {
      closed = true;
      goDown(new Error('the store was closed'));
      client.disconnect();
    },
  };
}

interface Calls {
  run(keys: readonly string[], args: readonly string[]): Promise<Reply>;
  /** Rejects everything under way now, whatever its own deadline. */
  failAll(cause: Error): void;
}

/** Script calls under a deadline. An answer after it changes nothing any more. */
function createCalls(client: Redis, deadlineMs: number, onFailure: (cause: Error) => void): Calls {
  const waiting = new Set<(cause: Error) => void>();

  function run(keys: readonly string[], args: readonly string[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const late = () => fail(new Error(`no answer within ${deadlineMs} ms`));
      // If this process was busy itself, the answer may be waiting in the socket: that is read before setImmediate runs.
      const timer = setTimeout(() => setImmediate(late), deadlineMs);
      function settle(): boolean {
        clearTimeout(timer);
        return waiting.delete(fail);
      }
      function fail(cause: Error): void {
        if (!settle()) return;
        reject(cause);
        onFailure(cause);
      }
      waiting.add(fail);
      evaluate(client, SCRIPT, keys, args).then((reply) => {
        if (settle()) resolve(reply as Reply);
      }, fail);
    });
  }

  return {
    run,
    failAll(cause) {
      for (const fail of [...waiting]) fail(cause);
    },
  };
}
