// Finds reasons why a gateway could not start on this machine now, in ports, the data directory and Redis. `check` only warns of them,
// because the gateway may run on another machine. Changes nothing.

import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { ACME_FILE } from '../acme/sqlite-acme-store.ts';
import { createDigestOf, keyFingerprint } from '../auth/api-key.ts';
import { KEY_STORE_FILE } from '../auth/store/key-store.ts';
import { checkRedisStore } from '../auth/store/redis/key-store-connection.ts';
import { checkKeySchema } from '../auth/store/sqlite/key-store-schema.ts';
import type { Config } from '../config/load.ts';
import type { OwnSecret, Secrets } from '../config/secrets.ts';
import type { Settings } from '../config/settings.ts';
import { nearestExisting, ownSecretProblemNow } from '../process/start-mistakes.ts';
import { VERSIONED_FILES } from '../process/store-files.ts';
import { askRedis } from '../redis/client.ts';
import { shownRedisUrl } from '../redis/url.ts';
import { SESSIONS_FILE } from '../sessions/store/sqlite/session-schema.ts';
import { shownPath } from '../shared/file-text.ts';
import { directoryLockProblem, sqliteProblem } from '../shared/stores/sqlite.ts';
import { checkedVersion } from '../shared/stores/sqlite-schema.ts';
import { liesOnSandbox } from '../upstream/sandbox/sandbox.ts';
import { portState } from './doctor/ports.ts';

const ELSEWHERE = 'The gateway does not start here; it may as another user, or on another machine.';
const REDIS_TIMEOUT_MS = 1000;

interface MachineOptions {
  readonly settings: Settings;
  readonly config: Config;
  readonly secrets: Pick<Secrets, 'read' | 'findValue'>;
  readonly nowMs: number;
}

/** Resolves with one sentence per reason. */
export async function machineWarnings(options: MachineOptions): Promise<string[]> {
  const { dataDirectory, redisUrl } = options.settings;
  const listeners = await listenerProblems(options);
  const ofData = directoryProblem(dataDirectory);
  const inData = ofData === undefined && redisUrl === undefined ? contentProblems(options) : [];
  // If a gateway serves one of the ports, it has locked the data directory. This needs no warning.
  const locked = listeners.isRunning || redisUrl !== undefined ? undefined : directoryLockProblem(dataDirectory);
  const redis = redisUrl === undefined ? undefined : await redisProblem(redisUrl, options);
  const problems = [...listeners.problems, ofData, ...inData, locked, redis].filter((one) => one !== undefined);
  return problems.map((problem) => `${problem} ${ELSEWHERE}`);
}

async function listenerProblems({ settings, config }: MachineOptions) {
  const { host, port, adminHost, adminPort } = settings;
  const { tls } = config.gateway;
  const isTls = tls !== undefined;
  const listeners = [
    { host, port, isTls, isAdmin: false, from: 'HOST and PORT' },
    ...(tls?.plain
      ? [{ host, port: tls.plain.port, isTls: false, isAdmin: false, from: 'HOST and tls.plain.port' }]
      : []),
    { host: adminHost, port: adminPort, isTls: false, isAdmin: true, from: 'ADMIN_HOST and ADMIN_PORT' },
  ];
  const states = await Promise.all(listeners.map(async (one) => ({ ...one, state: await portState(one) })));
  const problems = states.flatMap((one) => {
    const where = `${one.host}:${one.port} (${one.from})`;
    if (one.state === 'taken') return [`${where} is in use by another program.`];
    return typeof one.state === 'string' ? [] : [`This machine cannot listen on ${where}: ${one.state.reason}.`];
  });
  return { problems, isRunning: states.some(({ state }) => state === 'gateway') };
}

/** Returns why a start cannot use the directory. A missing directory is not a problem, because the start creates it. */
function directoryProblem(directory: string): string | undefined {
  const below = ['', 'secrets', 'sandbox'].map((name) => join(directory, name)).filter(existsSync);
  const unwritable = [nearestExisting(directory), ...below].find((path) => !isWritable(path));
  if (unwritable === undefined) return undefined;
  return `This user cannot write to ${shownPath(unwritable)}, where the gateway keeps its data (GATEWAY_DATA).`;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the problems of generated secrets and of stores. */
function contentProblems({ settings, config, secrets, nowMs }: MachineOptions): string[] {
  const entries: OwnSecret[] = ['key_pepper', 'assertion_keys'];
  if (Object.values(config.upstreams).some(liesOnSandbox)) entries.push('cursor_secret');
  const generated = entries.map((entry) => secretProblem(entry, secrets, nowMs));
  const pepper = generated[0] === undefined ? secrets.findValue('key_pepper') : undefined;
  const fingerprint = pepper === undefined ? undefined : keyFingerprint(createDigestOf(pepper));
  // These stores are opened only by a gateway that orders certificates, or that people sign in to.
  const apart: readonly string[] = [
    ...[KEY_STORE_FILE, ACME_FILE],
    ...(config.gateway.sessions === undefined ? [SESSIONS_FILE] : []),
  ];
  const others = Object.entries(VERSIONED_FILES).filter(([file]) => !apart.includes(file));
  const stores = [
    storeProblem(settings, KEY_STORE_FILE, (database) => {
      // A missing pepper is reported separately.
      if (generated[0] === undefined) checkKeySchema(database, fingerprint);
    }),
    ...others.map(([file, steps]) => storeProblem(settings, file, (database) => void checkedVersion(database, steps))),
  ];
  return [...generated, ...stores].filter((one) => one !== undefined);
}

function secretProblem(entry: OwnSecret, { findValue }: Pick<Secrets, 'findValue'>, nowMs: number): string | undefined {
  try {
    const value = findValue(entry);
    return value === undefined ? undefined : ownSecretProblemNow(entry, value, nowMs);
  } catch (error) {
    return (error as Error).message;
  }
}

function storeProblem(
  { dataDirectory }: Settings,
  file: string,
  check: (database: DatabaseSync) => void,
): string | undefined {
  const path = join(dataDirectory, file);
  const problem = sqliteProblem(path, check);
  return problem && `The store ${shownPath(path)} cannot be opened: ${problem.replace(/\.?$/, '.')}`;
}

async function redisProblem(url: string, { secrets }: MachineOptions): Promise<string | undefined> {
  const pepper = secrets.read('key_pepper');
  const fingerprint = pepper === undefined ? undefined : keyFingerprint(createDigestOf(pepper));
  try {
    await askRedis(url, REDIS_TIMEOUT_MS, (client) => checkRedisStore(client, fingerprint));
    return undefined;
  } catch (error) {
    const reason = (error as Error).message.replace(/\.?$/, '.');
    return `The Redis ${shownRedisUrl(url)} (REDIS_URL) cannot be used: ${reason}`;
  }
}
