// The sandbox process. All gateways that use a data directory share one, and the first gateway starts it. Each gateway holds a lease, which
// ends with the gateway, even if the gateway is killed. When no lease is left, the sandbox exits.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isOnSandbox, sandboxServiceOf } from '../targets/addresses.ts';
import type { UpstreamAddresses } from '../targets/targets.ts';
import { type Jwks, trusts, writeAdministrator, writeTrusted } from './sandbox-trust.ts';

export interface SandboxProcessOptions {
  readonly dataDirectory: string;
  /** Returns the public keys that the sandbox must trust now; they verify assertions. */
  jwks(): Jwks;
  readonly issuer: string;
  /** Names of the upstreams that the sandbox serves. */
  readonly audiences: readonly string[];
  readonly cursorSecret: string;
  /** The address of the gateway for JMAP, which the mail server writes into its documents. */
  readonly mailUrl: string;
  /** The administrator of the sandbox's mail server, `user:password`; undefined to keep the current one. */
  readonly mailAdministrator: string | undefined;
  onRestart(): void;
}

export interface SandboxProcess {
  /** Returns the current origin of an address like `sandbox:platform`; any other address is returned unchanged. */
  originOf(address: string): string;
  /** Ensures demo data for the organization and mode of an assertion. */
  seed(assertion: string): Promise<void>;
  /** Makes the sandbox trust exactly the current keys. */
  renewTrust(): void;
  /** Ends the lease. The sandbox exits when no lease is left. */
  close(): void;
}

interface Lease {
  readonly services: Readonly<Record<string, number>>;
  /** Resolves when the sandbox has exited. */
  readonly lost: Promise<void>;
  end(): void;
}

const SANDBOX_MAIN = fileURLToPath(new URL('../../../sandbox/main.ts', import.meta.url));
const ATTEMPTS = 40;
const ATTEMPT_EVERY_MS = 250;
const EXIT_IN_USE = 73;

type Addresses = Pick<UpstreamAddresses, 'live' | 'test'>;

/** Whether an address of the upstream is on the sandbox. */
export function liesOnSandbox(upstream: Addresses | undefined): boolean {
  return [...(upstream?.live ?? []), ...(upstream?.test ?? [])].some(isOnSandbox);
}

/** Finds or starts the sandbox of a data directory. Rejects if that takes longer than about ten seconds. */
export async function startSandbox(options: SandboxProcessOptions): Promise<SandboxProcess> {
  const directory = join(options.dataDirectory, 'sandbox');
  let closed = false;
  if (options.mailAdministrator !== undefined) writeAdministrator(directory, options.mailAdministrator);
  let lease = await acquire(directory, options);

  // When the sandbox exits, a new one is started. Until it is ready, the upstreams on the sandbox are unreachable.
  async function keepAlive(): Promise<void> {
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
  void keepAlive();

  return {
    originOf: (address) =>
      isOnSandbox(address) ? `http://127.0.0.1:${lease.services[sandboxServiceOf(address)] ?? 0}` : address,
    async seed(assertion) {
      const answer = await fetch(`http://127.0.0.1:${lease.services.platform}/_sandbox/seed`, {
        method: 'POST',
        headers: { 'x-gateway-assertion': assertion },
      });
      if (!answer.ok) throw new Error(`The sandbox could not be filled with demo data (status ${answer.status}).`);
    },
    renewTrust: () => writeTrusted(directory, options.jwks()),
    close() {
      closed = true;
      lease.end();
    },
  };
}

async function acquire(directory: string, options: SandboxProcessOptions): Promise<Lease> {
  let problem = 'it does not answer';
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const lease = await leaseAnnounced(directory, options.jwks());
    writeTrusted(directory, options.jwks());
    if (lease) return lease;
    const exitCode = await launch(directory, options);
    // Another gateway has just started a sandbox, which is about to announce its address.
    if (exitCode === EXIT_IN_USE) await sleep(ATTEMPT_EVERY_MS);
    else if (exitCode !== undefined) problem = `it ended with code ${exitCode}`;
  }
  throw new Error(`The sandbox could not be started: ${problem}.`);
}

/** Resolves with `undefined` when the process is ready, otherwise with its exit code. */
function launch(directory: string, options: SandboxProcessOptions): Promise<number | undefined> {
  // The directory in which Node keeps the compiled code of this process. It lies below the configured directory, because Node makes one for
  // each version and set of flags.
  const keptCode = getCompileCacheDir();
  const child: ChildProcess = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', SANDBOX_MAIN], {
    // The sandbox has a separate process group, because a signal to the terminal of the gateway must not end a sandbox that other gateways
    // use.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: {
      SANDBOX_DATA: directory,
      SANDBOX_ISSUER: options.issuer,
      SANDBOX_AUDIENCES: options.audiences.join(','),
      SANDBOX_CURSOR_SECRET: options.cursorSecret,
      SANDBOX_MAIL_URL: options.mailUrl,
      ...(keptCode !== undefined && { NODE_COMPILE_CACHE: dirname(keptCode) }),
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

interface Announcement {
  readonly pid: number;
  readonly services: Readonly<Record<string, number>>;
}

/** Takes a lease of the sandbox that is announced in a directory. Throws if the sandbox runs but trusts none of these keys. */
async function leaseAnnounced(directory: string, jwks: Jwks): Promise<Lease | undefined> {
  const announcement = readAnnouncement(directory);
  const lease = announcement && (await takeLease(announcement));
  if (!lease || trusts(directory, jwks)) return lease;
  lease.end();
  throw new Error(
    `A sandbox that trusts other keys runs on ${directory}: end the gateway that holds it (process ${announcement?.pid}).`,
  );
}

function readAnnouncement(directory: string): Announcement | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, 'sandbox.json'), 'utf8')) as Announcement;
  } catch {
    return undefined;
  }
}

function takeLease({ pid, services }: Announcement): Promise<Lease | undefined> {
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
    request.on('response', (answer) => {
      // After a crash, another process may use the announced port. The answer must name the announced process.
      if (answer.statusCode !== 200 || answer.headers['x-sandbox-pid'] !== String(pid)) {
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
