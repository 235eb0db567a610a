// A real ACME server for tests: pebble behind a door that can misbehave, with a DNS server that leads every name to this machine.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AcmeDoor, openAcmeDoor } from './acme-door.ts';
import { type Authority, createAuthority } from './certificates.ts';
import { temporaryDirectory } from './directory.ts';
import { freePort } from './free-port.ts';
import { programsProvided } from './run/programs.ts';

const START_MS = 20_000;

export interface Pebble extends AcmeDoor {
  /** The authority of its own HTTPS certificate, PEM: `tls.acme.trust`. */
  readonly trust: string;
  /** The root of the certificates that it issues, PEM. */
  root(): Promise<string>;
  /** Returns `Valid` or `Revoked` for a serial number in hexadecimal. */
  statusOf(serial: string): Promise<string>;
  /** Sends validations to these ports, in turn. */
  validateAt(at: { readonly tls?: readonly number[]; readonly http?: readonly number[] }): void;
  close(): Promise<void>;
}

interface PebbleOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Further members of its configuration. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The program. */
  readonly executable?: string;
}

/** Starts pebble. By default it rejects no nonce, because tests count requests. See `PEBBLE_WFE_NONCEREJECT`. */
export async function startPebble({ environment, settings, executable }: PebbleOptions = {}): Promise<Pebble> {
  await programsProvided();
  const directory = temporaryDirectory();
  const authority = createAuthority('Authority of the ACME server');
  const pair = authority.issue({ names: ['127.0.0.1', 'localhost'] });
  const fileOf = (name: string, text: string) => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const doors = { tls: await openPassage(), http: await openPassage() };
  const [api, management, dns] = await Promise.all([freePort(), freePort(), freePort()]);
  const pebble = {
    ...{ listenAddress: `127.0.0.1:${api}`, managementListenAddress: `127.0.0.1:${management}` },
    ...{ certificate: fileOf('pebble.pem', pair.certificate), privateKey: fileOf('pebble.key', pair.key) },
    ...{ httpPort: doors.http.port, tlsPort: doors.tls.port, ocspResponderURL: '' },
    ...settings,
  };
  const config = fileOf('pebble.json', JSON.stringify({ pebble }));
  const names = run('pebble-challtestsrv', [
    ...['-dns01', `127.0.0.1:${dns}`, '-defaultIPv6', '', '-management', '127.0.0.1:0'],
    ...['-http01', '', '-https01', '', '-tlsalpn01', ''],
  ]);
  const server = run(executable ?? 'pebble', ['-config', config, '-dnsserver', `127.0.0.1:${dns}`], {
    ...{ PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0', PEBBLE_AUTHZREUSE: '0', ...environment },
  });
  const read = (path: string) => fetchText(`https://127.0.0.1:${management}${path}`, authority);
  await untilAnswers(() => fetchText(`https://127.0.0.1:${api}/dir`, authority), server);
  const door = await openAcmeDoor({ port: api, pair, trust: authority.certificate });

  const closeDoor = door.close;
  return Object.assign(door, {
    trust: authority.certificate,
    root: () => read('/roots/0'),
    statusOf: async (serial: string) =>
      (JSON.parse(await read(`/cert-status-by-serial/${serial.toLowerCase()}`)) as { Status: string }).Status,
    validateAt({ tls, http }: Parameters<Pebble['validateAt']>[0]) {
      if (tls) doors.tls.leadTo(tls);
      if (http) doors.http.leadTo(http);
    },
    async close() {
      for (const child of [server, names]) child.kill('SIGKILL');
      await Promise.all([closeDoor(), doors.tls.close(), doors.http.close()]);
    },
  });
}

function run(program: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(program, args, { env: { ...process.env, ...environment }, stdio: 'ignore' });
  // A test that ends without closing it must not leave it behind.
  process.once('exit', () => child.kill('SIGKILL'));
  return child;
}

async function untilAnswers(ask: () => Promise<unknown>, child: ChildProcess): Promise<void> {
  const endsAt = performance.now() + START_MS;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (child.exitCode !== null || performance.now() > endsAt) throw error;
      await sleep(50);
    }
  }
}

export function fetchText(url: string, { certificate }: Pick<Authority, 'certificate'>): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { ca: certificate, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      answer.on('end', () => resolve(text)).on('error', reject);
    }).on('error', reject);
  });
}

/** Opens a port that leads to other ports in turn. Without such ports, it closes connections. */
async function openPassage() {
  let ports: readonly number[] = [];
  let next = 0;
  const open = new Set<Socket>();
  const server: Server = createServer((client) => {
    const port = ports[next++ % Math.max(ports.length, 1)];
    if (port === undefined) return client.destroy();
    const behind = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy()).on('close', () => open.delete(one) && other.destroy());
      one.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(to: readonly number[]) {
      ports = to;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
