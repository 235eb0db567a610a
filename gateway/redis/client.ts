// The Redis client of the gateway. Every connection to Redis is opened here, with the same timeouts and the same rules for reconnecting.

import type { Redis as Client, RedisOptions as ClientOptions, Cluster } from 'ioredis';
import { createCluster, isServing } from './cluster.ts';
import { redisLibrary } from './library.ts';
import { checkedConnectorOf } from './sentinels.ts';
import { parseRedisUrl, type RedisAddress } from './url.ts';
import { watchAnswers, watchAnswersOfCluster } from './watch.ts';

/** A client of one server or of a Cluster; the commands are the same. */
export type Redis = Client | Cluster;

const CONNECT_TIMEOUT_MS = 1000;
const REPLY_MAX_MS = 1000;
const RECONNECT_MS = { first: 50, longest: 500 } as const;
/** After a connection that has lasted this long, the back-off starts from the beginning, and the refusal of a replica ends it. */
const GOOD_AFTER_MS = 2000;
/**
 * The library's message when no Sentinel answers. If the message contains no last error, it means only that the library tries its list of
 * Sentinels again from the start.
 */
const NO_SENTINEL = /^All sentinels are unreachable.*Last error/;
const CLUSTER_DOWN = 'the Cluster does not serve: no master reports the state ok';

interface RedisListeners {
  /** Called after connecting and after every reconnect. */
  readonly onReady?: () => void;
  /** Called when a connection is lost or cannot be made; for a Cluster, when no server is left. */
  readonly onLost?: (cause: Error) => void;
}

export interface RedisOptions extends RedisListeners {
  /** See `parseRedisUrl`. */
  readonly url: string;
  /** The timeout of each command. If it is undefined, commands have no timeout, and the caller needs its own deadline. */
  readonly commandTimeoutMs?: number;
  /** A connection without a correct reply for this time is replaced by a new connection. Default: 1 s. */
  readonly silenceMaxMs?: number;
}

/**
 * Connects at once, and reconnects by itself. While the client is not connected, commands are rejected. No command is queued, or retried
 * after a reconnect. With the library's defaults, commands would wait for many seconds. Subscriptions are not renewed: see `subscribe`.
 */
export function connectRedis({ url, onReady, onLost, ...options }: RedisOptions): Redis {
  const address = parseRedisUrl(url);
  if (address === undefined) throw new Error('This is not the address of a Redis.');
  const library = redisLibrary();
  const reconnect = createReconnect();
  let lastError: Error | undefined;
  // If the master has become a replica, the client reconnects to find the new master. It keeps a connection that it has just made, because
  // a replica answers reads.
  const isReplica = (error: Error) => {
    const isDue = isReadOnly(error) && reconnect.hasLasted();
    if (isDue) {
      lastError = error;
      onLost?.(error);
    }
    return isDue;
  };
  const client =
    address.kind === 'cluster'
      ? connectCluster(address, options, reconnect.afterMs)
      : connectServer(address, options, { retryStrategy: reconnect.afterMs, reconnectOnError: isReplica });
  const { silenceMaxMs = REPLY_MAX_MS } = options;
  if (client instanceof library.Cluster) watchAnswersOfCluster(client, silenceMaxMs);
  else watchAnswers(client, silenceMaxMs);
  const note = (error: Error): void => {
    lastError = error;
    // The library keeps trying the Sentinels and emits no `close`, because no connection was open.
    if (NO_SENTINEL.test(error.message)) onLost?.(error);
  };
  client.on('ready', async () => {
    const serves = client instanceof library.Cluster ? await isServing(client) : true;
    if (client.status !== 'ready') return;
    reconnect.noteReady();
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

/** Connects as `connectRedis` does. Resolves when the first attempt to connect has succeeded or failed. */
export async function openRedis(
  { onReady, onLost, ...options }: RedisOptions,
  connect: ConnectRedis = connectRedis,
): Promise<Redis> {
  const opened = Promise.withResolvers<void>();
  const client = connect({
    ...options,
    onReady() {
      onReady?.();
      opened.resolve();
    },
    onLost(cause) {
      onLost?.(cause);
      opened.resolve();
    },
  });
  await opened.promise;
  return client;
}

/**
 * Runs a function with a new connection, and closes the connection afterwards. Rejects if Redis cannot be reached, or if the function
 * rejects.
 *
 * @param url see `parseRedisUrl`
 * @param commandTimeoutMs timeout of each command
 */
export async function askRedis<T>(
  url: string,
  commandTimeoutMs: number,
  question: (client: Redis) => Promise<T>,
  connect: ConnectRedis = connectRedis,
): Promise<T> {
  const opened = Promise.withResolvers<void>();
  const client = connect({ url, commandTimeoutMs, onReady: opened.resolve, onLost: opened.reject });
  try {
    await opened.promise;
    return await question(client);
  } finally {
    client.disconnect();
  }
}

/** The type of a function that connects. Simulations replace the function by a model of Redis. */
export type ConnectRedis = typeof connectRedis;

/** Whether a server refused a write because it is a replica. */
export function isReadOnly({ message }: Error): boolean {
  return message.includes('READONLY');
}

type Timeouts = Pick<RedisOptions, 'commandTimeoutMs' | 'silenceMaxMs'>;

/**
 * The back-off between reconnects. The back-off also grows if connections end soon after they are made, which the library would treat as
 * successes.
 */
function createReconnect() {
  let attempts = 0;
  let readyAt = Number.POSITIVE_INFINITY;
  const hasLasted = () => performance.now() - readyAt > GOOD_AFTER_MS;
  return {
    noteReady() {
      readyAt = performance.now();
    },
    hasLasted,
    afterMs(): number {
      attempts = hasLasted() ? 1 : attempts + 1;
      readyAt = Number.POSITIVE_INFINITY;
      return reconnectAfterMs(attempts);
    },
  };
}

function reconnectAfterMs(attempt: number): number {
  return Math.min(RECONNECT_MS.first * 2 ** (attempt - 1), RECONNECT_MS.longest);
}

function settingsFor({ commandTimeoutMs, silenceMaxMs = REPLY_MAX_MS }: Timeouts) {
  return {
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: silenceMaxMs,
    // The longest wait between retries while the server loads its data.
    maxLoadingRetryTime: RECONNECT_MS.longest,
    ...(commandTimeoutMs !== undefined && { commandTimeout: commandTimeoutMs }),
    // A server that does not confirm QUIT must not delay the end of the process.
    disconnectTimeout: 200,
  } satisfies ClientOptions;
}

function connectServer(
  address: Exclude<RedisAddress, { kind: 'cluster' }>,
  patience: Timeouts,
  reconnect: Required<Pick<ClientOptions, 'retryStrategy' | 'reconnectOnError'>>,
): Client {
  const settings = {
    ...settingsFor(patience),
    enableOfflineQueue: false,
    ...reconnect,
  };
  const { Redis: Server } = redisLibrary();
  if (address.kind === 'server') return new Server(address.url, settings);
  const { sentinels, master, db } = address;
  const access = accessOf(sentinels);
  const client = new Server({
    ...settings,
    ...access,
    Connector: checkedConnectorOf(redisLibrary()),
    sentinels: sentinels.map((one) => hostAndPort(one, 26_379)),
    name: master,
    db,
    sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
    sentinelRetryStrategy: reconnectAfterMs,
    // A replaced master keeps acting as master for some seconds, so the Sentinels report the change first.
    failoverDetector: true,
    sentinelReconnectStrategy: reconnectAfterMs,
    ...('tls' in access && { sentinelTLS: access.tls, enableTLSForSentinelMode: true }),
  });
  connectAgain(client);
  return client;
}

/**
 * Connects a client again if it ends without a call of `disconnect`. The library ends a client for good if the Sentinels announce a new
 * master while the client waits for the name of the master. After the end of a master, this happens to most clients.
 */
function connectAgain(client: Client): void {
  const disconnect = client.disconnect.bind(client);
  let isOver = false;
  client.disconnect = (reconnect = false) => {
    isOver ||= !reconnect;
    disconnect(reconnect);
  };
  client.on('end', () => {
    if (isOver) return;
    // If that fails, the client emits `end` once more.
    setTimeout(() => isOver || client.connect().catch(() => undefined), RECONNECT_MS.first).unref();
  });
}

function connectCluster(
  { servers }: Extract<RedisAddress, { kind: 'cluster' }>,
  patience: Timeouts,
  retryAfterMs: () => number,
): Cluster {
  return createCluster({
    seeds: servers.map((one) => hostAndPort(one, 6379)),
    server: { ...settingsFor(patience), ...accessOf(servers) },
    retryAfterMs,
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
