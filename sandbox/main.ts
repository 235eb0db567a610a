// Process entry of the sandbox: starts its services on free ports of the loopback interface, announces their addresses, and lives as long
// as a gateway holds a lease. The only file that reads the environment, listens to signals, or exits.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseInUse } from './database.ts';
import { createFileService } from './files/server.ts';
import { createLifetime } from './leases.ts';
import { createAdministrator } from './mail/administrator.ts';
import { createMailServer } from './mail/server.ts';
import { createSandbox } from './server.ts';
import { createTrust } from './trust.ts';

interface Service {
  readonly server: Server;
  close(): Promise<void>;
}

const EXIT_IN_USE = 73;

const directory = variable('SANDBOX_DATA');
const announcement = join(directory, 'sandbox.json');
let ending = false;
const started: Service[] = [];

try {
  await start();
} catch (error) {
  const inUse = error instanceof DatabaseInUse;
  note('error', inUse ? 'another sandbox is running on this data directory' : 'the sandbox could not start', error);
  process.exit(inUse ? EXIT_IN_USE : 1);
}

async function start(): Promise<void> {
  mkdirSync(directory, { recursive: true });
  // The time-outs can be shortened for tests.
  const graceMs = Number(process.env.SANDBOX_LEASE_GRACE_MS ?? 2000);
  const firstGraceMs = Number(process.env.SANDBOX_FIRST_LEASE_GRACE_MS ?? 30_000);
  const onLeases = createLifetime(graceMs, firstGraceMs, () => void end());
  const onFault = (error: unknown) => note('error', 'a request failed through a fault of the sandbox', error);
  const trust = {
    trusted: createTrust(join(directory, 'jwks.json')),
    issuer: variable('SANDBOX_ISSUER'),
    audiences: (process.env.SANDBOX_AUDIENCES ?? 'platform').split(','),
  };
  const mail = createMailServer({
    databasePath: join(directory, 'mail.db'),
    blobsDirectory: join(directory, 'mail-blobs'),
    administrator: createAdministrator(join(directory, 'mail-administrator')),
    ...(process.env.SANDBOX_MAIL_URL && { publicUrl: process.env.SANDBOX_MAIL_URL }),
    onFault,
  });
  started.push(mail);
  const platform = createSandbox({
    ...trust,
    databasePath: join(directory, 'platform.db'),
    cursorSecret: variable('SANDBOX_CURSOR_SECRET'),
    onLeases,
    onSeed: mail.plantExamples,
    onFault,
  });
  started.push(platform);
  const files = createFileService({ ...trust, directory, onFault });
  started.push(files);
  process.on('SIGTERM', () => void end());
  // Ctrl-C reaches every process of a terminal. The gateways drain after it and need this one until they let go.
  process.on('SIGINT', () => {});
  process.on('SIGHUP', () => {});
  // The reader of the log may have ended.
  process.stderr.on('error', () => {});

  const services = { platform: await listen(platform), mail: await listen(mail), files: await listen(files) };
  announce({ pid: process.pid, services });
  // If the parent has ended by now, no gateway takes a lease, and this process ends by itself.
  process.send?.({ ready: true, services }, () => {});
}

async function listen({ server }: Service): Promise<number> {
  // An 'error' event without a listener would end the process: a connection that is reset, or one that cannot be accepted.
  server.on('connection', (socket) => socket.on('error', () => {}));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  server.on('error', (error) => process.stderr.write(`sandbox: ${error.message}\n`));
  return (server.address() as AddressInfo).port;
}

/** Readers see the whole announcement or none, never a part. */
function announce(content: Readonly<Record<string, unknown>>): void {
  const draft = `${announcement}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  renameSync(draft, announcement);
}

async function end(): Promise<void> {
  if (ending) return;
  ending = true;
  try {
    // First, so that no gateway is sent to a process that is about to go.
    withdraw();
    await Promise.all(started.map((service) => service.close()));
    process.exit(0);
  } catch (error) {
    note('error', 'the sandbox did not end cleanly', error);
    process.exit(1);
  }
}

function withdraw(): void {
  try {
    const { pid } = JSON.parse(readFileSync(announcement, 'utf8')) as { pid?: number };
    if (pid === process.pid) rmSync(announcement);
  } catch {
    // It is missing, or another process has replaced it: leave it.
  }
}

function variable(name: string): string {
  const value = process.env[name];
  if (value) return value;
  note('error', `${name} is not set`);
  process.exit(1);
}

function note(level: string, message: string, error?: unknown): void {
  const reason = error instanceof Error ? { reason: error.message } : {};
  process.stderr.write(
    `${JSON.stringify({ level, time: new Date().toISOString(), service: 'sandbox', message, ...reason })}\n`,
  );
}
