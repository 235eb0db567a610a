// A gateway with several workers as operators run it: `bin/gateway start` on a Redis of the test's own, before one upstream.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createIssueKey } from '../../../gateway/auth/issue-key.ts';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { openKeyStore, openSecrets } from '../../../gateway/process/open-key-store.ts';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import type { GatewayOptions } from '../../support/gateway.ts';
import { ownContractAndThings } from '../../support/own-contract.ts';
import { createInstallation, type Installation, type Running } from '../../support/process.ts';
import { startRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { type Answer, type FakeUpstream, startUpstream } from '../../support/upstream.ts';

/** A start takes a second or two, and longer on a machine that has other work. */
const PATIENCE_MS = 120_000;

export interface WorkerStatus {
  readonly worker: number;
  readonly pid: number | null;
  readonly state: string;
  readonly since: string;
  readonly restarts: number;
  readonly configuration: string | null;
}

/** Everything but the gateway. */
export interface Prepared {
  readonly upstream: FakeUpstream;
  readonly authorization: string;
  /** The key store of the gateway, opened by the test. */
  readonly store: KeyStore;
  /** Where `config/*.yaml` and `openapi/` are. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly configuration: GatewayOptions;
  readonly start: Installation['start'];
  close(): Promise<void>;
}

export interface Several extends Omit<Prepared, 'start'>, Running {
  readonly url: string;
  readonly adminUrl: string;
  /** The workers in `/status`. */
  workers(): Promise<readonly WorkerStatus[]>;
  /** Log lines so far. Throws when one of them is not JSON. */
  logLines(): Record<string, unknown>[];
}

export interface SeveralOptions extends Pick<GatewayOptions, 'gateway' | 'limits' | 'files' | 'environment'> {
  readonly answer?: Answer;
  /** Whether standard output is a file, in place of a pipe. */
  readonly writesToFile?: boolean;
  /** With the contract of the gateway itself beside that of the upstream; the key may read it. */
  readonly withOwnContract?: boolean;
  /** Further operations of the contract. */
  readonly paths?: Record<string, object>;
}

const answerEmptyObject: Answer = (_request, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');

/** An upstream that holds back the answers to some requests until it is told to give them. Others are answered with an empty object. */
export function createHolding(): { readonly answer: Answer; readonly path: string; letGo(): void } {
  const held = Promise.withResolvers<void>();
  const path = '/v1/things?q=held';
  return {
    path,
    letGo: held.resolve,
    async answer(request, response, raw) {
      if (request.url.endsWith(path.slice(path.indexOf('?')))) await held.promise;
      answerEmptyObject(request, response, raw);
    },
  };
}

/** For two workers, and one organization with a key. */
export async function prepareSeveral({ gateway, limits, files, ...options }: SeveralOptions = {}): Promise<Prepared> {
  const directory = temporaryDirectory();
  const [redis, upstream] = await Promise.all([startRedis(), startUpstream(options.answer ?? answerEmptyObject)]);
  const configuration = {
    ...(options.withOwnContract ? ownContractAndThings(upstream.url) : thingsAt(upstream.url, {}, options.paths)),
    ...(gateway && { gateway }),
    ...(limits && { limits }),
    ...(files && { files }),
  };
  writeConfiguration(directory, configuration);
  const installation = createInstallation({
    ...environmentOf(directory),
    REDIS_URL: redis.url,
    WORKERS: '2',
    ...options.environment,
  });
  const { environment } = installation;
  const scopes = options.withOwnContract ? ['*', 'gateway:read'] : ['*'];
  const { key, store } = await issueKey(environment, scopes);
  return {
    upstream,
    authorization: `Bearer ${key}`,
    store,
    directory,
    environment,
    configuration,
    start: installation.start,
    async close() {
      await store.close();
      await upstream.close();
      await redis.stop();
      installation.remove();
    },
  };
}

export async function startSeveral(options?: SeveralOptions): Promise<Several> {
  const prepared = await prepareSeveral(options);
  const file = options?.writesToFile ? join(prepared.directory, 'output') : undefined;
  const running = await prepared.start(undefined, [], file);
  const adminUrl = `http://127.0.0.1:${running.adminPort}`;
  const parsed: Record<string, unknown>[] = [];
  let parsedTo = 0;
  return {
    ...prepared,
    ...running,
    url: `http://127.0.0.1:${running.port}`,
    adminUrl,
    async workers() {
      const answer = await fetch(`${adminUrl}/status`);
      return ((await answer.json()) as { workers: WorkerStatus[] }).workers;
    },
    logLines() {
      const output = running.standardOutput();
      const end = output.lastIndexOf('\n') + 1;
      // Tests ask again and again: each line is parsed once.
      const lines = end > parsedTo ? output.slice(parsedTo, end - 1).split('\n') : [];
      for (const line of lines) parsed.push(JSON.parse(line) as Record<string, unknown>);
      parsedTo = end;
      return [...parsed];
    },
    async close() {
      running.child.kill('SIGKILL');
      await prepared.close();
    },
  };
}

/** In the store that the gateway is about to use, with the secrets that it will find there. */
async function issueKey(
  environment: Record<string, string>,
  scopes: readonly string[],
): Promise<{ readonly key: string; readonly store: KeyStore }> {
  const settings = loadSettings(environment);
  const now = Date.now;
  const { store, digestOf } = await openKeyStore(
    { environment, now },
    settings,
    openSecrets({ environment }, settings),
  );
  const organization = { id: 'org_test', name: 'Test', tier: 'standard', state: 'active', contacts: [] } as const;
  await store.organizations.create({ ...organization, operator: false }, 'test');
  const limits = { name: 'test', scopes, allowedCidrs: [], expiresAtMs: undefined, by: 'test' };
  const { key, record } = createIssueKey({ digestOf, randomBytes, now })({
    organization: organization.id,
    mode: 'live',
    ...limits,
  });
  await store.keys.create(record);
  return { key, store };
}

/** Polls until it holds. */
export async function eventually<T>(read: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  const endsAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await read();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > endsAt) throw new Error(`Not within ${PATIENCE_MS} ms: ${read}`);
    await sleep(150);
  }
}

/** Whether there is such a process that has not ended. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The value of a series in the text of Prometheus; 0 if there is none. Labels in the order in which they are printed. */
export function seriesIn(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

export async function metricsOf({ adminUrl }: Pick<Several, 'adminUrl'>): Promise<string> {
  return (await fetch(`${adminUrl}/metrics`)).text();
}
