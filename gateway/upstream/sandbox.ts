// The sandbox process: one per data directory, shared by every gateway that runs on it. Whoever needs it first starts it; it lives as
// long as some gateway holds a lease, so neither a crash nor a kill of a gateway leaves it behind.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export interface SandboxOptions {
  readonly dataDirectory: string;
  /** Public keys of the assertions it is to trust. */
  readonly jwks: object;
  readonly issuer: string;
  readonly cursorSecret: string;
  onRestart(): void;
}

export interface SandboxProcess {
  /** Where an address like `sandbox:platform` is right now; any other address as it is. */
  originOf(address: string): string;
  /** Makes sure that the organization and mode an assertion stands for have demo data. */
  seed(assertion: string): Promise<void>;
  /** Lets go of it; it ends when nobody else needs it. */
  close(): void;
}

interface Lease {
  readonly services: Readonly<Record<string, number>>;
  /** Resolves when the sandbox is gone. */
  readonly lost: Promise<void>;
  end(): void;
}

const entry = fileURLToPath(new URL('../../sandbox/main.ts', import.meta.url));
const ATTEMPTS = 40;
const ATTEMPT_EVERY_MS = 250;
const EXIT_IN_USE = 73;

export function isSandboxAddress(address: string): boolean {
  return address.startsWith('sandbox:');
}

/** Finds or starts the sandbox of a data directory. Rejects when it cannot be had within ten seconds. */
export async function startSandbox(options: SandboxOptions): Promise<SandboxProcess> {
  const directory = join(options.dataDirectory, 'sandbox');
  let closed = false;
  let lease = await acquire(directory, options);

  // A sandbox that dies is replaced; requests in between find the upstream unreachable.
  async function follow(): Promise<void> {
    while (!closed) {
      await lease.lost;
      if (closed) return;
      options.onRestart();
      try {
        lease = await acquire(directory, options);
      } catch {
        await sleep(ATTEMPT_EVERY_MS, undefined, { ref: false });
      }
    }
  }
  void follow();

  return {
    originOf: (address) =>
      isSandboxAddress(address) ? `http://127.0.0.1:${lease.services[address.slice(8)] ?? 0}` : address,
    async seed(assertion) {
      const answer = await fetch(`http://127.0.0.1:${lease.services.platform}/_sandbox/seed`, {
        method: 'POST',
        headers: { 'x-gateway-assertion': assertion },
      });
      if (!answer.ok) throw new Error(`The sandbox could not be filled with demo data (status ${answer.status}).`);
    },
    close() {
      closed = true;
      lease.end();
    },
  };
}

async function acquire(directory: string, options: SandboxOptions): Promise<Lease> {
  let problem = 'it does not answer';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const lease = await leaseAnnounced(directory);
    if (lease) return lease;
    const exitCode = await launch(directory, options);
    // Another gateway was quicker: its sandbox will be announced in a moment.
    if (exitCode === EXIT_IN_USE) await sleep(ATTEMPT_EVERY_MS);
    else if (exitCode !== undefined) problem = `it ended with code ${exitCode}`;
  }
  throw new Error(`The sandbox could not be started: ${problem}.`);
}

/** Resolves with `undefined` when the process is ready, else with its exit code. */
function launch(directory: string, options: SandboxOptions): Promise<number | undefined> {
  // In a group of its own: a signal for the gateway's terminal must not end what other gateways use.
  const child: ChildProcess = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', entry], {
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      SANDBOX_DATA: directory,
      SANDBOX_JWKS: JSON.stringify(options.jwks),
      SANDBOX_ISSUER: options.issuer,
      SANDBOX_CURSOR_SECRET: options.cursorSecret,
    },
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
    child.once('message', () => {
      child.removeAllListeners();
      child.disconnect();
      child.unref();
      resolve(undefined);
    });
  });
}

async function leaseAnnounced(directory: string): Promise<Lease | undefined> {
  let services: Record<string, number>;
  try {
    services = (
      JSON.parse(readFileSync(join(directory, 'sandbox.json'), 'utf8')) as { services: Record<string, number> }
    ).services;
  } catch {
    return undefined;
  }
  return new Promise((resolve) => {
    const request = get({
      host: '127.0.0.1',
      port: services.platform,
      path: '/_sandbox/lease',
      agent: false,
      timeout: 2000,
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
    request.on('response', (answer: IncomingMessage) => {
      if (answer.statusCode !== 200) {
        request.destroy();
        resolve(undefined);
        return;
      }
      request.setTimeout(0);
      answer.resume();
      const lost = new Promise<void>((gone) => answer.on('close', gone).on('error', () => undefined));
      resolve({ services, lost, end: () => request.destroy() });
    });
  });
}
