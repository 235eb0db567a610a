// Operators see what happened to workers: a start is no death, a frozen worker is silent since its last answer, a killed one is named with its
// signal, and its successor changes neither the start of the gateway nor its configuration.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { GatewayEvent } from '../../../gateway/console/history/gateway-event.ts';
import { freePort } from '../../support/free-port.ts';
import { runInProcess } from '../../support/in-process.ts';
import { eventually, type Several, startSeveral, type WorkerStatus } from './several.ts';

interface Status {
  readonly started_at: string;
  readonly configuration?: { readonly loaded_at: string };
  readonly workers: readonly WorkerStatus[];
}

interface Cause {
  readonly id: string;
  readonly cause: string;
  readonly since: string;
  readonly next?: string | null;
}

const adminPort = await freePort();
const admin = `http://127.0.0.1:${adminPort}`;

async function get<T>(path: string): Promise<T> {
  return (await (await fetch(`${admin}${path}`)).json()) as T;
}

const status = () => get<Status>('/status');
const events = async () => (await get<{ events: GatewayEvent[] }>('/console/feed?range=15m')).events;
const causes = async () => (await get<{ causes: Cause[] }>('/causes')).causes;

describe('the state of two workers', () => {
  let several: Several;
  const statesAtStart = new Set<string>();
  before(async () => {
    let isStarted = false;
    const watching = (async () => {
      while (!isStarted) {
        const { workers = [] } = await status().catch(() => ({ workers: [] }));
        for (const { state } of workers) statesAtStart.add(state);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    several = await startSeveral({ environment: { ADMIN_PORT: `${adminPort}` } });
    isStarted = true;
    await watching;
  });
  after(() => several.close());

  it('is starting or serving at a start, and the history has the start alone', async () => {
    assert.ok(statesAtStart.has('starting'));
    assert.deepEqual(
      [...statesAtStart].filter((state) => !['starting', 'serving', 'silent'].includes(state)),
      [],
    );
    const seen = (await events()).map(({ kind }) => kind).filter((kind) => kind !== 'outage' && kind !== 'warning');
    assert.deepEqual(seen, ['start']);
    assert.ok((await events()).every(({ text }) => !text.includes('died')));
  });

  it('of a frozen worker is silent since its last answer, and its cause says what to run', async () => {
    const [, second] = (await status()).workers;
    const frozenAt = new Date().toISOString();
    assert.ok(second !== undefined && second.since < frozenAt);
    process.kill(second.pid as number, 'SIGSTOP');
    const found = await eventually(async () => (await causes()).find(({ id }) => id === 'worker 2'));
    assert.ok(found.since > second.since, `${found.since} is its start`);
    assert.match(found.cause, /^Worker 2 \(process \d+\) does not answer\.$/);
    assert.equal(found.next, `kill -KILL ${second.pid}`);
    const { stderr } = await runInProcess(['explain', 'req_unknown'], {
      environment: { ...several.environment, ADMIN_PORT: `${adminPort}` },
    });
    assert.match(stderr, /remembers no req_unknown: worker 2 does not answer and may know it; or it is too old/);
    const silent = (await status()).workers[1];
    assert.equal(silent?.state, 'silent');
    const outage = (await events()).find(({ text }) => text.startsWith('Worker 2'));
    assert.ok(outage !== undefined && outage.at > second.since);
  });

  it('of a killed worker is followed by a successor, and the history names the signal', async () => {
    const earlier = await status();
    const [, frozen] = earlier.workers;
    process.kill(frozen?.pid as number, 'SIGKILL');
    const later = await eventually(async () => {
      const now = await status();
      return now.workers.length === 2 && now.workers.every(({ state }) => state === 'serving') && now;
    });
    const [first] = later.workers;
    process.kill(first?.pid as number, 'SIGKILL');
    const last = await eventually(async () => {
      const now = await status();
      const isNew = now.workers.every(({ pid, state }) => pid !== first?.pid && state === 'serving');
      return now.workers.length === 2 && isNew && now;
    });
    const seen = await eventually(async () => {
      const all = (await events()).filter(({ kind }) => kind === 'restart');
      return all.length === 2 && all;
    });
    assert.deepEqual(
      seen.map(({ text }) => text),
      [
        `Worker 2 was ended by SIGKILL (process ${frozen?.pid}); another one was started in its place.`,
        `Worker 1 was ended by SIGKILL (process ${first?.pid}); another one was started in its place.`,
      ],
    );
    assert.equal(last.started_at, earlier.started_at);
    assert.ok((await events()).every(({ kind }) => kind !== 'reload'));
  });
});
