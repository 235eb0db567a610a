// Configures every connection to Redis. Each concern issues its own commands.

import { createHash } from 'node:crypto';
import { Redis as Client, type RedisOptions as ClientOptions, Cluster } from 'ioredis';
import { createCluster, isServing } from './redis-cluster.ts';
import { watchAnswers, watchAnswersOfCluster } from './redis-watch.ts';

/** A client of one server or of a Cluster; the commands are the same. */
export type Redis = Client | Cluster;

const CONNECT_TIMEOUT_MS = 1000;
const SILENCE_MAX_MS = 1000;
const RECONNECT_MS = { first: 50, longest: 500 } as const;
/** The library's message when no Sentinel answers; without a last error it has only reached the end of its list. */
const NO_SENTINEL = /^All sentinels are unreachable.*Last error/;
const CLUSTER_DOWN = 'the Cluster does not serve: none of its masters says that it is well';

export interface RedisListeners {
  /** Called after connecting and after every reconnect. */
  readonly onReady?: () => void;
  /** Called when a connection is lost or cannot be made; for a Cluster, when no server is left. */
  readonly onLost?: (cause: Error) => void;
}

export interface RedisOptions extends RedisListeners {
  /** See `parseRedisUrl`. */
  readonly url: string;
  /** Timeout of each command; without it, the caller keeps a deadline of its own. */
  readonly commandTimeoutMs?: number;
  /** A connection without a right reply for so long is replaced by a new one. Default: 1 s. */
  readonly silenceMaxMs?: number;
}

/** One server, the Sentinels of a master, or some servers of a Cluster. */
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
 * `rediss` for TLS and `user:password@` for the servers (Sentinels are used without). Undefined for any other text.
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
 * A client that connects at once, reconnects by itself, and never makes a caller wait for a reconnect: no queue while offline, no retry,
 * no command sent again after a reconnect, no new subscription (the library's defaults wait for many seconds).
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
    // The library keeps trying the Sentinels and emits no `close`, because no connection was open.
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
 * Runs a function with a connection of its own and closes the connection afterwards. Rejects if Redis cannot be reached or does not
 * answer, and with the error of the function.
 *
 * @param url see `parseRedisUrl`
 * @param commandTimeoutMs timeout of each command
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
    // Longest wait between retries while the server loads its data.
    maxLoadingRetryTime: RECONNECT_MS.longest,
    ...(commandTimeoutMs !== undefined && { commandTimeout: commandTimeoutMs }),
    // A server that does not confirm QUIT must not delay the end of the process.
    disconnectTimeout: 200,
  } satisfies ClientOptions;
}

function connectServer(address: Exclude<RedisAddress, { kind: 'cluster' }>, patience: Patience): Client {
  const settings = {
    ...settingsFor(patience),
    enableOfflineQueue: false,
    retryStrategy: reconnectAfterMs,
    // The master has become a replica: reconnect to find the new master.
    reconnectOnError: ({ message }: Error) => message.includes('READONLY'),
  };
  if (address.kind === 'server') return new Client(address.url, settings);
  const { sentinels, master, db } = address;
  const access = accessOf(sentinels);
  return new Client({
    ...settings,
    ...access,
    sentinels: sentinels.map((one) => hostAndPort(one, 26_379)),
    name: master,
    db,
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    sentinelRetryStrategy: reconnectAfterMs,
    // A replaced master keeps acting as master for some seconds: the Sentinels report the change first.
    failoverDetector: true,
    sentinelReconnectStrategy: reconnectAfterMs,
    ...('tls' in access && { sentinelTLS: access.tls, enableTLSForSentinelMode: true }),
  });
}

function connectCluster({ servers }: Extract<RedisAddress, { kind: 'cluster' }>, patience: Patience): Cluster {
  return createCluster({
    seeds: servers.map((one) => hostAndPort(one, 6379)),
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

function hostAndPort({ hostname, port }: URL, standard: number) {
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || standard) };
}

/** A Lua script and its SHA-1 digest, by which a server runs it after the first time. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

export function toScript(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/**
 * Runs a script by its digest, and sends the source again if the server was restarted or flushed. With `callBuffer`, text in the reply
 * comes as bytes.
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
