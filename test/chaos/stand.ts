// Everything that can be broken, and the gateway before it: `bin/gateway start` with two workers on a Redis, three targets of one upstream,
// and the mail server of the sandbox.

import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentOf, writeConfiguration } from '../support/configuration.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { shippedContracts } from '../support/gateway.ts';
import { newPassword, shippedEntry } from '../support/mail.ts';
import { createInstallation, type Installation, type Running } from '../support/process.ts';
import { entriesContract, entriesEntry, plainContract, plainEntry } from './contract.ts';
import { type ChaosRedis, startRedisOnDisk } from './redis.ts';
import { startTarget, type Target } from './targets.ts';

export interface WorkerStatus {
  readonly pid: number | null;
  readonly state: string;
  /** Which version of it is in force there. */
  readonly configuration: string | null;
}

export interface Stand {
  readonly gateway: Running;
  readonly targets: readonly Target[];
  readonly redis: ChaosRedis;
  /** Path of the journal that the targets share. */
  readonly journal: string;
  readonly organizations: readonly { readonly id: string; readonly key: string }[];
  /** Of an organization that may administrate mail. */
  readonly mailKey: string;
  /** The processes in `/status`. */
  workers(): Promise<readonly WorkerStatus[]>;
  /** The process of the sandbox. */
  sandboxPid(): number;
  /** Saves a configuration that differs from the present one, or one that is wrong. */
  save(what: 'another' | 'a wrong one'): void;
  /** The operator's action after Redis has lost its memory. */
  importKeys(): Promise<void>;
  close(): Promise<void>;
}

const TARGETS = 3;
const ORGANIZATIONS = 4;

/** @param isRelayed whether the gateway reaches the targets through relays, which can do them harm */
export async function startStand({ isRelayed = true } = {}): Promise<Stand> {
  const directory = temporaryDirectory();
  const journal = join(directory, 'journal.sqlite');
  const redis = await startRedisOnDisk();
  // One after the other: the first makes the journal.
  const targets: Target[] = [];
  for (let count = 0; count < TARGETS; count += 1) targets.push(await startTarget(journal));
  const live = targets.map(({ relay, port }) => `http://127.0.0.1:${isRelayed ? relay.port : port}`);
  const installation = createInstallation({
    ...environmentOf(directory),
    REDIS_URL: redis.url,
    WORKERS: '2',
    STALWART_ADMIN_CREDENTIALS: `admin:${newPassword()}`,
  });
  cpSync(shippedContracts, join(directory, 'openapi'), { recursive: true });
  let saved = 0;
  const write = (limits: object) => {
    const roomy = { requests: 10_000_000 };
    const tiers = { standard: roomy, premium: roomy, 'mail-administrator': roomy };
    writeConfiguration(directory, {
      contracts: { 'entries.yaml': entriesContract, 'plain.yaml': plainContract },
      upstreams: { entries: entriesEntry(live), plain: plainEntry(live), mail: shippedEntry() },
      limits: { tiers, organizations: { org_unknown: { requests: 1000 + saved } }, ...limits },
      gateway: { logLevel: 'warn', timeouts: { drainDelayMs: 300, drainMs: 6000 } },
    });
  };
  write({});
  const { organizations, mailKey, exported } = await makeOrganizations(installation, directory);
  const gateway = await installation.start();

  return {
    gateway,
    targets,
    redis,
    journal,
    organizations,
    mailKey,
    async workers() {
      const answer = await fetch(`http://127.0.0.1:${gateway.adminPort}/status`);
      return ((await answer.json()) as { workers: WorkerStatus[] }).workers;
    },
    sandboxPid() {
      const announcement = readFileSync(join(installation.dataDirectory, 'sandbox', 'sandbox.json'), 'utf8');
      return (JSON.parse(announcement) as { pid: number }).pid;
    },
    save(what) {
      saved += 1;
      write(what === 'another' ? {} : { nonsense: saved });
    },
    importKeys: () => done(installation, 'keys', 'import', exported).then(() => undefined),
    async close() {
      gateway.child.kill('SIGCONT');
      const ended = gateway.stop();
      const kill = setTimeout(() => gateway.child.kill('SIGKILL'), 15_000);
      await ended;
      clearTimeout(kill);
      await Promise.all([...targets.map((target) => target.stop()), redis.stop()]);
      installation.remove();
    },
  };
}

async function makeOrganizations(installation: Installation, directory: string) {
  const lines = await done(
    installation,
    'seed',
    '--organizations',
    String(ORGANIZATIONS),
    '--tier',
    'premium',
    '--json',
  );
  const organizations = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; key: string });
  const operators = ['--id', 'org_operators', '--name', 'Operators', '--tier', 'premium', '--operator', '--json'];
  await done(installation, 'orgs', 'create', ...operators);
  const scopes = ['--mode', 'live', '--scopes', 'mail:read,mail:write', '--json'];
  const made = await done(installation, 'keys', 'create', '--org', 'org_operators', ...scopes);
  const exported = join(directory, 'keys.jsonl');
  await done(installation, 'keys', 'export', '--file', exported);
  return { organizations, mailKey: (JSON.parse(made) as { key: string }).key, exported };
}

/** The output of a command. Rejects if it fails. */
async function done(installation: Installation, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await installation.run(...args);
  if (code !== 0) throw new Error(`gateway ${args.slice(0, 2).join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}
