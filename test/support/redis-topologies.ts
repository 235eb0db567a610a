// Several Redis servers of the test's own that work together: a master and a replica under three Sentinels, and a Cluster.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { temporaryDirectory } from './directory.ts';
import { freePort } from './free-port.ts';
import { eventually } from './instances.ts';
import { end, spawnRedis, startServer, type TestRedis } from './redis.ts';

const MASTER = 'counters';
const SLOTS = 16_384;
/**
 * The time after which the servers of a Cluster take a silent one for failed. Servers spread news within half of this time, so a Cluster
 * forms with the short time. Afterwards the time is longer, because a server may stand still on a busy machine.
 */
const FORMING_MS = 1000;
const SILENCE_MAX_MS = 15_000;

export interface Watched {
  readonly url: string;
  readonly sentinelUrls: readonly string[];
  readonly master: TestRedis;
  readonly replica: TestRedis;
  /** Makes a Sentinel promote the replica to master. Both servers keep running. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a master that the Sentinels take for dead after half a second. */
export async function startWatched(): Promise<Watched> {
  const master = await startServer();
  const replica = await startServer('--replicaof', '127.0.0.1', String(master.port), '--repl-diskless-sync-delay', '0');
  const directory = temporaryDirectory();
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(directory, master.port)));
  const url = `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${MASTER}`;
  // A Sentinel that does not know the others and the replica yet could not elect one.
  for (const { port } of sentinels) {
    await eventually(async () => {
      const text = String(await askServer(port, 'INFO', 'sentinel'));
      return text.includes('slaves=1,sentinels=3');
    });
  }
  await eventually(async () => String(await askServer(replica.port, 'INFO')).includes('master_link_status:up'));
  return {
    url,
    sentinelUrls: sentinels.map(({ port }) => `redis://127.0.0.1:${port}`),
    master,
    replica,
    async failOver() {
      await askServer(sentinels[0]?.port ?? 0, 'SENTINEL', 'FAILOVER', MASTER);
    },
    async stop() {
      await Promise.all(sentinels.map(({ stop }) => stop()));
      await Promise.all([master.stop(), replica.stop()]);
    },
  };
}

async function startSentinel(directory: string, masterPort: number): Promise<{ port: number; stop(): Promise<void> }> {
  const port = await freePort();
  const file = join(directory, `${port}.conf`);
  const settings = [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${directory}`,
    `sentinel monitor ${MASTER} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${MASTER} 500`,
    `sentinel failover-timeout ${MASTER} 2000`,
  ];
  writeFileSync(file, `${settings.join('\n')}\n`);
  const sentinel = await spawnRedis([file, '--sentinel'], '+monitor');
  return { port, stop: () => end(sentinel) };
}

interface TestCluster {
  /** Names the masters. */
  readonly url: string;
  /** The masters, then a replica of each if there are any. */
  readonly servers: readonly TestRedis[];
  /** Ends a master for good, and makes its replica the master. Resolves when all others name that one. */
  failOver(master: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts three masters with a third of the slots each. Without replicas, only the slots of a lost master are away. */
export async function startCluster({ replicas = false } = {}): Promise<TestCluster> {
  const directory = temporaryDirectory();
  const starting = Array.from({ length: replicas ? 6 : 3 }, () => startClusterServer(directory));
  const servers = await Promise.all(starting);
  const masters = servers.slice(0, 3);
  const first = masters[0]?.port ?? 0;
  for (const [index, { port, busPort }] of servers.entries()) {
    await askServer(port, 'CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`);
    await askServer(first, 'CLUSTER', 'MEET', '127.0.0.1', `${port}`, `${busPort}`);
    if (index >= masters.length) continue;
    const [from, next] = [index, index + 1].map((third) => Math.ceil((third * SLOTS) / masters.length));
    await askServer(port, 'CLUSTER', 'ADDSLOTSRANGE', `${from}`, `${(next ?? SLOTS) - 1}`);
  }
  const untilAll = (line: string) =>
    Promise.all(
      servers.map(({ port }) =>
        eventually(async () => String(await askServer(port, 'CLUSTER', 'INFO')).includes(line)),
      ),
    );
  await untilAll(`cluster_known_nodes:${servers.length}`);
  for (const [index, { port }] of servers.slice(3).entries()) {
    const master = String(await askServer(masters[index]?.port ?? 0, 'CLUSTER', 'MYID'));
    await askServer(port, 'CLUSTER', 'REPLICATE', master);
    await eventually(async () => String(await askServer(port, 'INFO')).includes('master_link_status:up'));
  }
  await untilAll('cluster_state:ok');
  await untilAll('cluster_slots_ok:16384');
  for (const { port } of servers) await askServer(port, 'CONFIG', 'SET', 'cluster-node-timeout', `${SILENCE_MAX_MS}`);
  return {
    url: `redis+cluster://${masters.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    servers,
    async failOver(master) {
      const successor = servers[masters.length + master]?.port ?? 0;
      await servers[master]?.kill();
      await askServer(successor, 'CLUSTER', 'FAILOVER', 'TAKEOVER');
      const named = masters.map(({ port }, index) => (index === master ? successor : port)).sort();
      for (const { port } of servers.filter((_, index) => index !== master))
        await eventually(async () => isDeepStrictEqual(await mastersBy(port), named));
    },
    async stop() {
      await Promise.all(servers.map(({ stop }) => stop()));
    },
  };
}

/** Returns the ports of the servers that have slots, according to one server. */
async function mastersBy(port: number): Promise<number[]> {
  const ranges = (await askServer(port, 'CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  return ranges.map(([, , [, owner]]) => owner).sort();
}

async function startClusterServer(directory: string): Promise<TestRedis & { readonly busPort: number }> {
  const busPort = await freePort();
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-port': busPort,
    'cluster-config-file': `${busPort}.conf`,
    'cluster-node-timeout': FORMING_MS,
    // A replica becomes the master when a test says so.
    'cluster-replica-no-failover': 'yes',
    'cluster-require-full-coverage': 'no',
    'repl-diskless-sync-delay': 0,
    dir: directory,
  };
  return {
    ...(await startServer(...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]))),
    busPort,
  };
}

/** Sends one command to one server, on any topology. */
export async function askServer(port: number, command: string, ...args: readonly string[]): Promise<unknown> {
  const client = new Redis(port, '127.0.0.1');
  try {
    return await client.call(command, [...args]);
  } finally {
    client.disconnect();
  }
}
