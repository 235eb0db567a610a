// How this gateway talks to Redis: the one place where a connection is configured. What is asked of it is the business of each concern.

import { createHash } from 'node:crypto';
import { Redis as Client, type RedisOptions as ClientOptions, Cluster } from 'ioredis';
import { createCluster, isServing } from './redis-cluster.ts';
import { watchAnswers, watchAnswersOfCluster } from './redis-watch.ts';

/** What asks a Redis: the same commands, whether one server answers or several. */
export type Redis = Client | Cluster;

const CONNECT_TIMEOUT_MS = 1000;
const SILENCE_MAX_MS = 1000;
const RECONNECT_MS = { first: 50, longest: 500 } as const;
/** The library's message; without a last error it has only come to the end of its list. */
const NO_SENTINEL = /^All sentinels are unreachable.*Last error/;
const CLUSTER_DOWN = 'the Cluster does not serve: none of its masters says that it is well';

export interface RedisListeners {
  /** After connecting, and after every reconnecting. */
  readonly onReady?: () => void;
  /** Whenever a connection is lost or cannot be made; of a Cluster, when none of its servers is left. */
  readonly onLost?: (cause: Error) => void;
}

export interface RedisOptions extends RedisListeners {
  /** As `parseRedisUrl` reads it. */
  readonly url: string;
  /** Each command fails when it has taken so long; absent: whoever asks keeps the time. */
  readonly commandTimeoutMs?: number;
  /** A connection so long without a right answer is not coming back; a new one may. Default: a second. */
  readonly silenceMaxMs?: number;
}

/** Where Redis is: one server, the Sentinels that know which server is the master, or some servers of a Cluster. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly url: string }
  | { readonly kind: 'sentinel'; readonly sentinels: readonly URL[]; readonly master: string; readonly db: number }
  | { readonly kind: 'cluster'; readonly servers: readonly URL[] };

const ONE = /^rediss?:\/\/[^\s]+$/;
/** The library takes any other path for database 0. */
const DATABASE = /^\/?\d*$/;
const SEVERAL =
  /^(?<scheme>rediss?)\+(?<kind>sentinel|cluster):\/\/(?<user>[^\s/@]*@)?(?<hosts>[^\s/@?#]+)(?:\/(?<master>[^\s/?#]+)(?:\/(?<db>\d+))?)?$/;

/**
 * `redis://host:6379/0`, `redis+sentinel://host:26379,host:26379/master/0` or `redis+cluster://host:6379,host:6379`; each with
 * `rediss` for TLS and `user:password@` for the servers (Sentinels are asked without). Undefined: it is none of these.
 */
export function parseRedisUrl(url: string): RedisAddress | undefined {
  if (ONE.test(url))
    return namesHost(url) && DATABASE.test(new URL(url).pathname) ? { kind: 'server', url } : undefined;
  const { scheme, kind, user = '', hosts = '', master, db } = SEVERAL.exec(url)?.groups ?? {};
  const texts = hosts.split(',').map((host) => `${scheme}://${user}${host}`);
  if (kind === undefined || !texts.every(namesHost)) return undefined;
  const urls = texts.map((text) => new URL(text));
  if (kind === 'cluster') return master === undefined ? { kind, servers: urls } : undefined;
  return master === undefined ? undefined : { kind: 'sentinel', sentinels: urls, master, db: Number(db ?? 0) };
}

function namesHost(text: string): boolean {
  return URL.canParse(text) && new URL(text).hostname !== '';
}

/**
 * A client that connects at once, comes back by itself, and never keeps anybody waiting for that: no queue while offline, no second
 * try, nothing sent again after a reconnect (the library's defaults wait for many seconds), no subscription made anew.
 */
export function connectRedis({ url, onReady, onLost, ...options }: RedisOptions): Redis {
  const address = parseRedisUrl(url);
  if (address === undefined) throw new Error('This is no address of a Redis.');
  const client = address.kind === 'cluster' ? connectCluster(address, options) : connectServer(address, options);
  const { silenceMaxMs = SILENCE_MAX_MS } = options;
  if (client instanceof Cluster) watchAnswersOfCluster(client, silenceMaxMs);
  else watchAnswers(client, silenceMaxMs);
  let lastError: Error | undefined;
  const note = (error: Error): void => {
    lastError = error;
    // The library goes on asking them, and nothing was connected that could be closed.
    if (NO_SENTINEL.test(error.message)) onLost?.(error);
  };
  client.on('ready', async () => {
    const serves = client instanceof Cluster ? await isServing(client) : true;
    if (client.status !== 'ready') return;
    if (serves) return onReady?.();
    lastError = new Error(CLUSTER_DOWN);
    client.disconnect(true);
  });
  client.on('error', note);
  client.on('node error', note);
  client.on('close', () => {
    onLost?.(lastError ?? new Error('the connection was closed'));
    lastError = undefined;
  });
  return client;
}

/**
 * Asks one question on a connection of its own, which is closed afterwards. Rejects when Redis cannot be reached or does not answer, and
 * with what the question throws.
 *
 * @param url as `connectRedis` takes it
 * @param commandTimeoutMs for each command of the question
 */
export async function askRedis<T>(
  url: string,
  commandTimeoutMs: number,
  question: (client: Redis) => Promise<T>,
): Promise<T> {
  const opened = Promise.withResolvers<void>();
  const client = connectRedis({ url, commandTimeoutMs, onReady: opened.resolve, onLost: opened.reject });
  try {
    await opened.promise;
    return await question(client);
  } finally {
    client.disconnect();
  }
}

type Patience = Pick<RedisOptions, 'commandTimeoutMs' | 'silenceMaxMs'>;

function reconnectAfterMs(attempt: number): number {
  return Math.min(RECONNECT_MS.first * 2 ** (attempt - 1), RECONNECT_MS.longest);
}

function settingsFor({ commandTimeoutMs, silenceMaxMs = SILENCE_MAX_MS }: Patience) {
  return {
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
  } satisfies ClientOptions;
}

function connectServer(address: Exclude<RedisAddress, { kind: 'cluster' }>, patience: Patience): Client {
  const settings = {
    ...settingsFor(patience),
    enableOfflineQueue: false,
    retryStrategy: reconnectAfterMs,
    // A master that has become a replica: whoever is the master now is found by connecting anew.
    reconnectOnError: ({ message }: Error) => message.includes('READONLY'),
  };
  if (address.kind === 'server') return new Client(address.url, settings);
  const { sentinels, master, db } = address;
  const access = accessOf(sentinels);
  return new Client({
    ...settings,
    ...access,
    sentinels: sentinels.map((one) => whereabouts(one, 26_379)),
    name: master,
    db,
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    sentinelRetryStrategy: reconnectAfterMs,
    // A master that was replaced lives on for some seconds as if it were one: the Sentinels tell before it does.
    failoverDetector: true,
    sentinelReconnectStrategy: reconnectAfterMs,
    ...('tls' in access && { sentinelTLS: access.tls, enableTLSForSentinelMode: true }),
  });
}

function connectCluster({ servers }: Extract<RedisAddress, { kind: 'cluster' }>, patience: Patience): Cluster {
  return createCluster({
    seeds: servers.map((one) => whereabouts(one, 6379)),
    server: { ...settingsFor(patience), ...accessOf(servers) },
    retryAfterMs: reconnectAfterMs,
  });
}

function accessOf([{ protocol, username, password } = new URL('redis://')]: readonly URL[]) {
  return {
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}

function whereabouts({ hostname, port }: URL, standard: number) {
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || standard) };
}

/** A Lua script and the name by which a server that has seen it knows it. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

export function toScript(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/**
 * Runs a script by its digest; a server that has been restarted or flushed is told the script again. With `callBuffer` the reply is
 * bytes where it would be text.
 */
export async function evaluate(
  client: Redis,
  { source, sha }: Script,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
  call: 'call' | 'callBuffer' = 'call',
): Promise<unknown> {
  try {
    return await client[call]('EVALSHA', [sha, keys.length, ...keys, ...args]);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return await client[call]('EVAL', [source, keys.length, ...keys, ...args]);
  }
}
