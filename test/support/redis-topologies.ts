// Several Redis servers of the test's own that work together: a master and a replica under three Sentinels, and a Cluster.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from './instances.ts';
import { end, freePort, spawnRedis, startServer, type TestRedis } from './redis.ts';

const MASTER = 'counters';
const SLOTS = 16_384;

export interface Watched {
  readonly url: string;
  readonly master: TestRedis;
  readonly replica: TestRedis;
  /** Asks a Sentinel to make the replica the master; both live on. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** A master that is taken for dead after half a second. */
export async function startWatched(): Promise<Watched> {
  const master = await startServer();
  const replica = await startServer('--replicaof', '127.0.0.1', String(master.port), '--repl-diskless-sync-delay', '0');
  const directory = mkdtempSync(join(tmpdir(), 'sentinels-'));
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(directory, master.port)));
  const url = `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${MASTER}`;
  // A Sentinel that does not know the others and the replica yet could not elect anybody.
  for (const { port } of sentinels) {
    await eventually(async () => {
      const text = String(await askServer(port, 'INFO', 'sentinel'));
      return text.includes('slaves=1,sentinels=3');
    });
  }
  await eventually(async () => String(await askServer(replica.port, 'INFO')).includes('master_link_status:up'));
  return {
    url,
    master,
    replica,
    async failOver() {
      await askServer(sentinels[0]?.port ?? 0, 'SENTINEL', 'FAILOVER', MASTER);
    },
    async stop() {
      await Promise.all(sentinels.map(({ stop }) => stop()));
      await Promise.all([master.stop(), replica.stop()]);
      rmSync(directory, { recursive: true });
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

export interface TestCluster {
  readonly url: string;
  readonly servers: readonly TestRedis[];
  stop(): Promise<void>;
}

/** Three servers with a third of the slots each and no replicas. What a lost one had is away; the rest goes on. */
export async function startCluster(): Promise<TestCluster> {
  const directory = mkdtempSync(join(tmpdir(), 'cluster-'));
  const servers = await Promise.all([1, 2, 3].map(() => startClusterServer(directory)));
  const ports = servers.map(({ port }) => port);
  await Promise.all(
    servers.map(async ({ port, busPort }, index) => {
      const [first, next] = [index, index + 1].map((third) => Math.ceil((third * SLOTS) / servers.length));
      await askServer(port, 'CLUSTER', 'ADDSLOTSRANGE', `${first}`, `${(next ?? SLOTS) - 1}`);
      await askServer(port, 'CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`);
      await askServer(ports[0] ?? 0, 'CLUSTER', 'MEET', '127.0.0.1', `${port}`, `${busPort}`);
    }),
  );
  for (const port of ports) {
    await eventually(async () => {
      const info = String(await askServer(port, 'CLUSTER', 'INFO'));
      return info.includes('cluster_state:ok') && info.includes('cluster_slots_ok:16384');
    });
  }
  return {
    url: `redis+cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`,
    servers,
    async stop() {
      await Promise.all(servers.map(({ stop }) => stop()));
      rmSync(directory, { recursive: true });
    },
  };
}

async function startClusterServer(directory: string): Promise<TestRedis & { readonly busPort: number }> {
  const busPort = await freePort();
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-port': busPort,
    'cluster-config-file': `${busPort}.conf`,
    'cluster-node-timeout': 1000,
    'cluster-require-full-coverage': 'no',
    dir: directory,
  };
  return {
    ...(await startServer(...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]))),
    busPort,
  };
}

/** One command to one server, whatever it is part of. */
export async function askServer(port: number, command: string, ...args: readonly string[]): Promise<unknown> {
  const client = new Redis(port, '127.0.0.1');
  try {
    return await client.call(command, [...args]);
  } finally {
    client.disconnect();
  }
}
