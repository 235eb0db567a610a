// One real gateway process under attack: it has to live, to answer a good request at any time, and to hold nothing of clients that left.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAuthority } from '../support/certificates.ts';
import { environmentOf, writeConfiguration } from '../support/configuration.ts';
import { requestOf } from '../support/connection.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { freePort } from '../support/free-port.ts';
import { type GatewayOptions, issueKeyIn } from '../support/gateway.ts';
import { createInstallation } from '../support/process.ts';
import { thingsAt } from '../support/things.ts';
import { casePaths } from './cases/run.ts';
import { createDoor, type Door, type Entered } from './door.ts';

/** As many connections as one address may have, by default; the storm stays below it. */
const PER_ADDRESS = 100;
/** Of an answer that never comes to its end, so that it is being written whenever its client leaves. */
const ENDLESS_BYTES = 8_000_000;
const TRICKLE_MS = 100;
const BEGINNING = Buffer.alloc(64_000, 'x');
/** Work given up by a client may take a while to be over; nothing of it may stay. */
const PATIENCE_MS = 5000;
const SILENCE_MS = 10_000;
const LOOK_MS = 50;

/** Gauges that are 0 when no request is in progress. */
const gauges = [
  'gateway_upstream_in_flight',
  'gateway_upstream_waiting',
  'gateway_upstream_target_outstanding',
  'gateway_buffered_body_bytes',
  'gateway_tunnel_streams',
];

export interface BesiegedProcess {
  /** The public listener; and the plain one beside it, where that uses TLS. */
  readonly doors: readonly [Door, ...Door[]];
  readonly key: string;
  readonly pid: number;
  hasEnded(): boolean;
  /** Throws with the last output of the process if it has ended, or does not answer a good request on a new connection with 200. */
  assertServing(): Promise<void>;
  /** Throws unless everything that attacks have taken is free again, and the log has no mistake in the gateway. */
  assertNothingLeft(): Promise<void>;
  close(): Promise<void>;
}

interface BesiegedOptions extends Pick<GatewayOptions, 'gateway'> {
  /** More members of the upstream's entry in upstreams.yaml. */
  readonly entry?: object;
  readonly perAddress?: number;
  /** The public listener uses TLS, and has a plain one beside it. */
  readonly tls?: boolean;
}

/**
 * Starts one before an upstream that answers `{}`, and GET /v1/files with a long answer that never comes to its end; upgrades are echoed.
 */
async function besiegeProcess(options: BesiegedOptions = {}): Promise<BesiegedProcess> {
  const { gateway = {}, entry = {}, perAddress = PER_ADDRESS, tls = false } = options;
  const upstream = await startCalmUpstream();
  const directory = temporaryDirectory();
  const listeners = tls ? await prepareTls() : undefined;
  writeConfiguration(directory, {
    // On a busy machine, requests that come together may wait for long.
    ...thingsAt(upstream.url, { maxQueueMs: 60_000, ...entry }, casePaths),
    gateway: { connections: { perAddress }, ...listeners?.gateway, ...gateway },
    ...(listeners && { files: listeners.files }),
  });
  const installation = createInstallation({
    ...environmentOf(directory),
  });
  const { key } = await issueKeyIn(installation.environment, { tier: 'premium' });
  const { child, port, adminPort, output } = await installation.start();
  const pid = child.pid as number;
  const door = createDoor(port, listeners?.ca);
  const good = requestOf('GET /v1/things', { Authorization: `Bearer ${key}` });

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;

  function assertLiving(): void {
    if (!hasEnded()) return;
    const lastWords = output()
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('{"level":30'))
      .slice(-3);
    assert.fail(`the gateway ended (${child.exitCode ?? child.signalCode}): ${lastWords.join('\n')}`);
  }

  async function ask(): Promise<Entered> {
    assertLiving();
    const entered = await door.enter();
    entered.stream.write(good);
    const first = new Promise<string>((resolve) => entered.stream.once('data', (chunk) => resolve(String(chunk))));
    const silence = sleep(SILENCE_MS, 'no answer', { ref: false });
    const answer = await Promise.race([first, entered.closed.then(() => 'closed'), silence]);
    if (answer.startsWith('HTTP/1.1 200 ')) return entered;
    // The process may have ended a moment ago: its last words say more.
    await sleep(200);
    assertLiving();
    assert.fail(`a good request: ${answer}`);
  }

  async function assertServing(): Promise<void> {
    (await ask()).socket.destroy();
  }

  /** Files and sockets of the process, without its connections to the upstream, which rest in a pool. */
  const openFiles = () => readdirSync(`/proc/${pid}/fd`).length - upstream.connections();

  async function leftovers(): Promise<Record<string, number>> {
    // Counted first: the connection of the question would count.
    // One that was open for another reason at first, and is closed now, is nothing left behind.
    const files = Math.max(0, openFiles() - openFilesBefore);
    const text = await (
      await fetch(`http://127.0.0.1:${adminPort}/metrics`, { headers: { connection: 'close' } })
    ).text();
    const left = gauges.map((name) => [name, sumOf(text, name)] as const);
    return Object.fromEntries([...left, ['open files', files]].filter(([, value]) => value !== 0));
  }

  await assertServing();
  // The connection of that client counts until the process has closed it, too: then two looks in a row find nothing else.
  let openFilesBefore = openFiles();
  for (let stillLooks = 0; stillLooks < 2; ) {
    await sleep(LOOK_MS);
    if (Object.keys(await leftovers()).length === 0) stillLooks += 1;
    else {
      stillLooks = 0;
      openFilesBefore = openFiles();
    }
  }

  return {
    doors: listeners ? [door, createDoor(listeners.plainPort)] : [door],
    key,
    pid,
    hasEnded,
    assertServing,
    async assertNothingLeft() {
      assertLiving();
      const endsAt = performance.now() + PATIENCE_MS;
      let left = await leftovers();
      while (Object.keys(left).length > 0 && performance.now() < endsAt) {
        await sleep(LOOK_MS);
        left = await leftovers();
      }
      assert.deepEqual(left, {}, 'something is left behind');
      // Were a connection counted that is gone, the last of these would be refused.
      const connections = await Promise.all(Array.from({ length: perAddress }, ask));
      for (const { socket } of connections) socket.destroy();
      const wrong = output()
        .split('\n')
        .filter((line) => line.includes('"level":60') || line.includes('"internal_error"'));
      assert.deepEqual(wrong, [], 'the log has mistakes in the gateway');
    },
    async close() {
      child.kill('SIGKILL');
      await upstream.close();
      installation.remove();
    },
  };
}

/** The TLS part of gateway.yaml, with the files that it names. */
async function prepareTls() {
  const authority = createAuthority();
  const { certificate, key } = authority.issue({ names: ['api.test'] });
  const plainPort = await freePort();
  return {
    ca: authority.certificate,
    plainPort,
    gateway: {
      publicUrl: 'https://api.test',
      tls: { certificates: [{ certificate: 'api.pem', key: 'api.key' }], plain: { port: plainPort } },
    },
    files: { 'api.pem': certificate, 'api.key': key },
  };
}

export interface Siege {
  /** The process that lives; a new one if none was started yet, or if the last one has ended. */
  process(): Promise<BesiegedProcess>;
  close(): Promise<void>;
}

export function createSiege(options: BesiegedOptions = {}): Siege {
  let current: BesiegedProcess | undefined;
  return {
    async process() {
      if (current?.hasEnded()) await current.close();
      if (current === undefined || current.hasEnded()) current = await besiegeProcess(options);
      return current;
    },
    async close() {
      await current?.close();
    },
  };
}

/** All series of a metric in the text of Prometheus. */
function sumOf(text: string, name: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

const json = { 'content-type': 'application/json', 'content-length': 2 };

/** A client that has closed without a reset is known to be gone only when something is written to it. */
function trickle(response: ServerResponse): void {
  response.write(BEGINNING);
  const timer = setInterval(() => response.write('x'), TRICKLE_MS);
  response.on('close', () => clearInterval(timer));
}

/** It keeps nothing of its requests. */
async function startCalmUpstream() {
  let connections = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('error', () => undefined);
    request.on('end', () => {
      const isEndless = request.method === 'GET' && request.url?.startsWith('/v1/files');
      const head = isEndless ? { 'content-type': 'application/octet-stream', 'content-length': ENDLESS_BYTES } : json;
      response.writeHead(200, head);
      if (isEndless) trickle(response);
      else response.end('{}');
    });
  });
  server.on('upgrade', (_request, socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    socket.pipe(socket);
  });
  server.on('connection', (socket) => {
    connections += 1;
    socket.on('close', () => {
      connections -= 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A test that fails half-way must not keep its process from ending.
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
