// A real Redis for tests: REDIS_URL behind a relay that can fail, otherwise a new redis-server. Nothing is ever flushed: tests use
// different names.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { temporaryDirectory } from './directory.ts';
import { freePort } from './free-port.ts';
import { createSubscribers } from './redis-subscribers.ts';
import { programsProvided } from './run/programs.ts';

export interface TestRedis {
  readonly url: string;
  readonly port: number;
  /** Ends it for good. */
  stop(): Promise<void>;
  /** All connections break, new ones are refused. A server of our own loses its memory as well. */
  kill(): Promise<void>;
  /** Starts the server again on the same port after `kill`. */
  restart(): Promise<void>;
  /** Keeps connections open, but Redis does not answer. */
  pause(): void;
  resume(): void;
}

/** Starts a Redis. Each call starts a new Redis or a new relay: test files that damage their Redis do not disturb each other. */
export async function startRedis(): Promise<TestRedis> {
  return process.env.REDIS_URL ? startRelay(apartAt(process.env.REDIS_URL)) : startServer();
}

/** Returns the address of the same Redis with another prefix of names. */
export function apartAt(url: string): string {
  const apart = new URL(url);
  apart.searchParams.set('keyPrefix', `${apart.searchParams.get('keyPrefix') ?? ''}${randomUUID()}:`);
  return apart.href;
}

/** Returns a client that reads the data of the server with its real names. */
export function lookInside(url: string): Redis {
  const { href } = Object.assign(new URL(url), { search: '' });
  return new Redis(href);
}

/** Deletes all data with the prefix of this URL. */
export async function wipe(url: string): Promise<void> {
  const client = lookInside(url);
  const names = await client.keys(`${new URL(url).searchParams.get('keyPrefix') ?? ''}*`);
  if (names.length > 0) await client.del(...names);
  client.disconnect();
}

/**
 * Makes the server refuse writes, because it cannot write to its disk. The server needs the settings of `SNAPSHOT_SETTINGS`. Returns the
 * function that ends the fault.
 */
export async function refuseWrites(server: Redis): Promise<() => Promise<void>> {
  const [, directory = ''] = (await server.config('GET', 'dir')) as string[];
  const gone = temporaryDirectory();
  await server.config('SET', 'dir', gone);
  rmSync(gone, { recursive: true });
  await server.set('any', 'value');
  await server.bgsave();
  while (!/rdb_last_bgsave_status:err/.test(await server.info('persistence'))) await sleep(10);
  return async () => {
    await server.config('SET', 'dir', directory);
    await server.bgsave();
  };
}

/** Settings of a server for `refuseWrites`. */
export const SNAPSHOT_SETTINGS = ['--save', '3600 1', '--enable-protected-configs', 'yes'];

/** A server of the test's own, with further settings on its command line. */
export async function startServer(...settings: string[]): Promise<TestRedis> {
  // The program may have to be installed: another test could take a port that is chosen before.
  await programsProvided();
  let port = await freePort();
  let server = await spawnServer(port, settings).catch(async () => {
    // Between the choice and the start, another process has taken the port.
    port = await freePort();
    return spawnServer(port, settings);
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    stop: () => end(server),
    kill: () => end(server),
    async restart() {
      server = await spawnServer(port, settings);
    },
    pause: () => void server.kill('SIGSTOP'),
    resume: () => void server.kill('SIGCONT'),
  };
}

function spawnServer(port: number, more: readonly string[]): Promise<ChildProcess> {
  const settings = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'];
  return spawnRedis([...settings, ...more], 'Ready to accept connections');
}

/** Resolves once its log has that text. */
export async function spawnRedis(args: readonly string[], readyText: string): Promise<ChildProcess> {
  await programsProvided();
  // A master's snapshot for its replicas passes through a file, which must neither stay nor be found by another server at its start.
  const cwd = temporaryDirectory();
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'], cwd });
  const kill = () => server.kill('SIGKILL');
  server.once('exit', () => rmSync(cwd, { recursive: true, force: true }));
  process.once('exit', kill);
  server.once('exit', () => process.off('exit', kill));
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.once('exit', (code) => reject(new Error(`redis-server ended with ${code} before it was ready`)));
  server.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (text.includes(readyText)) resolve();
  });
  await ready;
  // A test that fails before it stops its server must not wait for it.
  server.unref();
  server.stdout?.destroy();
  return server;
}

export async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.ref();
  server.kill('SIGKILL');
  await ended;
}

export interface Relay extends TestRedis {
  /** Delays every answer by this time. */
  slowDown(delayMs: number): void;
  /** Cuts connections that subscribe, or have subscribed, from now on. */
  refuseSubscribers(): void;
  /** Returns the number of connections that were cut. */
  refusedSubscribers(): number;
}

/** Starts a relay to a Redis that can be cut, frozen and slowed down, while the server keeps running. */
export async function startRelay(serverUrl: string): Promise<Relay> {
  const { relay, freeze, cut, ...interference } = createTraffic(new URL(serverUrl));
  // Between `kill` and `restart`, `listen(0)` of another test does not give it out.
  const port = await freePort();
  let door = await openDoor(relay, port);

  async function shut(): Promise<void> {
    cut();
    if (!door.listening) return;
    door.close();
    await once(door, 'close');
  }

  return {
    url: Object.assign(new URL(serverUrl), { hostname: '127.0.0.1', port: String(port) }).href,
    port,
    stop: shut,
    kill: shut,
    async restart() {
      door = await openDoor(relay, port);
    },
    pause: () => freeze(true),
    resume: () => freeze(false),
    ...interference,
  };
}

async function openDoor(relay: (client: Socket) => void, port: number): Promise<Server> {
  // Like a server of our own, it must not keep a failed test waiting.
  const door = createServer(relay).listen(port, '127.0.0.1').unref();
  await once(door, 'listening');
  return door;
}

interface Traffic {
  relay(client: Socket): void;
  freeze(yes: boolean): void;
  slowDown(delayMs: number): void;
  refuseSubscribers(): void;
  refusedSubscribers(): number;
  cut(): void;
}

function createTraffic(behind: URL): Traffic {
  const sockets = new Set<Socket>();
  const subscribers = createSubscribers();
  let frozen = false;
  let delayMs = 0;

  function pass(from: Socket, to: Socket, waitMs: () => number): void {
    sockets.add(from);
    if (frozen) from.pause();
    from.on('data', async (bytes) => {
      // An answer that is still held back at the end of a test must not keep its process from ending.
      if (waitMs() > 0) await sleep(waitMs(), undefined, { ref: false });
      if (to.writable) to.write(bytes);
    });
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  return {
    relay(client) {
      const server = connect(Number(behind.port || 6379), behind.hostname);
      client.on('data', (bytes) => subscribers.note(client, bytes));
      pass(client, server, () => 0);
      pass(server, client, () => delayMs);
    },
    freeze(yes) {
      frozen = yes;
      for (const socket of sockets) yes ? socket.pause() : socket.resume();
    },
    slowDown(ms) {
      delayMs = ms;
    },
    refuseSubscribers: subscribers.refuse,
    refusedSubscribers: subscribers.refused,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
