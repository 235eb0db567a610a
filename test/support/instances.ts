// Several gateways on one Redis, each with its own data directory, as in production.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, ask, requestOf } from './connection.ts';
import { type GatewayOptions, startGateway, type TestGateway } from './gateway.ts';
import { startScriptedUpstream } from './scripted-upstream.ts';
import { startRunningClock } from './stand-still.ts';
import { thingsAt } from './things.ts';

/** No test waits longer than this for something that is promised within a second. */
const PATIENCE_MS = 5000;

export interface Instances {
  readonly gateways: readonly TestGateway[];
  close(): Promise<void>;
}

/** Starts a gateway for each address of the Redis. */
export async function startInstances(redisUrls: readonly string[], options: GatewayOptions = {}): Promise<Instances> {
  const upstream = await startScriptedUpstream();
  const start = (url: string) =>
    startGateway({ ...thingsAt(upstream.url), ...options, environment: { ...options.environment, REDIS_URL: url } });
  const gateways = await Promise.all(redisUrls.map(start));
  return {
    gateways,
    async close() {
      await Promise.all(gateways.map((gateway) => gateway.stop()));
      await upstream.close();
    },
  };
}

/** Sends one request with this key. */
export function askWith(key: string, { port }: Pick<TestGateway, 'port'>): Promise<Answer> {
  return ask(port, requestOf('GET /v1/things', { Authorization: `Bearer ${key}` }));
}

/** Polls all gateways until each answers as expected. Returns the milliseconds, without times in which this process was stopped. */
export async function untilAll(
  { gateways }: Instances,
  key: string,
  isAsItShouldBe: (answer: Answer) => boolean,
): Promise<number> {
  const clock = startRunningClock();
  const took = gateways.map(async (gateway) => {
    while (!isAsItShouldBe(await askWith(key, gateway))) {
      if (clock.ms() > PATIENCE_MS) throw new Error(`Not within ${PATIENCE_MS} ms: ${isAsItShouldBe}`);
      // Polling without a pause would keep busy the very gateways that are measured.
      await sleep(5);
    }
    return clock.ms();
  });
  return Math.max(...(await Promise.all(took).finally(clock.stop)));
}

interface KeysStatus {
  readonly store: string;
  readonly reason?: string;
  readonly readAtMs: number;
  readonly graceEndsAtMs?: number;
  readonly writeFailure?: string;
  readonly instance: string;
  readonly position: number;
}

/** Returns the key store in the status of the admin listener. */
export async function keysStatusOf({ adminUrl }: Pick<TestGateway, 'adminUrl'>): Promise<KeysStatus> {
  const answer = await fetch(`${adminUrl}/status`);
  return ((await answer.json()) as { keys: KeysStatus }).keys;
}

/** Resolves when every change so far has reached all of them: callers accepted from then on are remembered. */
export async function untilRead({ gateways }: Pick<Instances, 'gateways'>): Promise<void> {
  const { latest } = (await gateways[0]?.store.audit.since(0, 1)) ?? {};
  await eventually(async () => {
    const statuses = await Promise.all(gateways.map(keysStatusOf));
    return statuses.every(({ position }) => position === latest);
  });
}

/** Polls until a condition holds, for events besides requests. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > endsAt) throw new Error(`Not within ${PATIENCE_MS} ms: ${holds}`);
    await sleep(30);
  }
}
