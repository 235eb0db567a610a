// How this gateway talks to Redis: the one place where a connection is configured. What is asked of it is the business of each concern.

import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';

export type { Redis } from 'ioredis';

const CONNECT_TIMEOUT_MS = 1000;
const SILENCE_MAX_MS = 1000;
const RECONNECT_MS = { first: 50, longest: 500 } as const;

export interface RedisListeners {
  /** After connecting, and after every reconnecting. */
  readonly onReady?: () => void;
  /** Whenever a connection is lost or cannot be made. */
  readonly onLost?: (cause: Error) => void;
}

export interface RedisOptions extends RedisListeners {
  /** redis:// or rediss:// */
  readonly url: string;
  /** Each command fails when it has taken so long; absent: whoever asks keeps the time. */
  readonly commandTimeoutMs?: number;
  /** A connection so long without an answer is not coming back; a new one may. Default: a second. */
  readonly silenceMaxMs?: number;
}

/**
 * A client that connects at once, comes back by itself, and never keeps anybody waiting for that: no queue while offline, no second
 * try, nothing sent again after a reconnect (the library's defaults wait for many seconds), no subscription made anew.
 */
export function connectRedis(options: RedisOptions): Redis {
  const { url, commandTimeoutMs, silenceMaxMs = SILENCE_MAX_MS, onReady, onLost } = options;
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: silenceMaxMs,
    // While it loads its data it is asked again this often.
    maxLoadingRetryTime: RECONNECT_MS.longest,
    ...(commandTimeoutMs !== undefined && { commandTimeout: commandTimeoutMs }),
    // A server that does not answer a goodbye must not hold up the end of the process.
    disconnectTimeout: 200,
    retryStrategy: (attempt) => Math.min(RECONNECT_MS.first * 2 ** (attempt - 1), RECONNECT_MS.longest),
  });
  let lastError: Error | undefined;
  client.on('ready', () => onReady?.());
  client.on('error', (error: Error) => {
    lastError = error;
  });
  client.on('close', () => {
    onLost?.(lastError ?? new Error('the connection was closed'));
    lastError = undefined;
  });
  return client;
}

/** A Lua script and the name by which a server that has seen it knows it. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

export function toScript(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/** Runs a script by its digest; a server that has been restarted or flushed is told the script again. */
export async function evaluate(
  client: Redis,
  { source, sha }: Script,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
): Promise<unknown> {
  try {
    return await client.call('EVALSHA', [sha, keys.length, ...keys, ...args]);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return await client.call('EVAL', [source, keys.length, ...keys, ...args]);
  }
}
