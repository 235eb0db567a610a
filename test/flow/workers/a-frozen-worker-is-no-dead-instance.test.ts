// An instance whose worker is frozen still serves. The other instances report the worker, and their figures include the instance.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually, type Several, startSeveral } from './several.ts';

interface Feed {
  readonly without: readonly string[];
  readonly statuses: readonly unknown[];
}

/** Each round asks the instance several times, so a wait for the frozen worker in one of them would make the instance missing. */
const ROUNDS = 8;

let several: Several;
let other: TestGateway;
before(async () => {
  several = await startSeveral();
  const { REDIS_URL = '' } = several.environment;
  other = await startGateway({ environment: { REDIS_URL } });
});
after(async () => {
  await other.stop();
  await several.close();
});

async function read<T>(path: string): Promise<T> {
  return (await (await fetch(`${other.adminUrl}${path}`)).json()) as T;
}

const feed = () => read<Feed>('/console/feed?instance=all');
const causes = async () => (await read<CausesReport>('/causes')).causes;

it('is reported as a worker by the other instance', async () => {
  await eventually(async () => (await feed()).statuses.length === 2);
  const [, second] = await several.workers();
  process.kill(second?.pid as number, 'SIGSTOP');
  const seen = new Set<string>();
  const told = await eventually(async () => {
    const all = await causes();
    for (const { id } of all) seen.add(id);
    return all.find(({ id }) => id === 'worker 2');
  });
  assert.match(told.cause, /^Worker 2 \(process \d+\) does not answer\.$/);
  for (let round = 0; round < ROUNDS; round += 1) {
    const all = await causes();
    for (const { id } of all) seen.add(id);
    assert.ok(
      all.some(({ id }) => id === 'worker 2'),
      JSON.stringify(all),
    );
    assert.deepEqual((await feed()).without, []);
  }
  assert.deepEqual(
    [...seen].filter((id) => id.startsWith('instance ')),
    [],
  );
});

it('answers again as soon as it goes on', async () => {
  const [, second] = await several.workers();
  process.kill(second?.pid as number, 'SIGCONT');
  await eventually(async () => (await several.workers()).every(({ state }) => state === 'serving'));
  await eventually(
    async () => !(await causes()).some(({ id, severity }) => id === 'worker 2' && severity === 'failure'),
  );
});
