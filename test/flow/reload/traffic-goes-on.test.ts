// Reloads under continuous traffic: every request gets an answer that one of the two configurations would have given.

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt, thingsContract } from '../../support/things.ts';
import { type Answer, type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';
import { inForce, reloadsCounted, roomy, saveAndReload } from './files.ts';

/** Each change there and back. */
const RELOADS = 8 * LIMIT_RUNS;
const CLIENTS = 8;
/** Between two requests of a client. Without it, clients wait for answers alone. */
const PAUSE_MS = LIMIT_RUNS > 1 ? 0 : 3;
const extraPath = {
  '/v1/extra': {
    get: {
      operationId: 'getExtra',
      security: [{ apiKey: ['things:read'] }],
      responses: { 200: { description: 'fine' } },
    },
  },
};
const answerEmptyObject: Answer = (_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end('{}');
};

describe('reloads under traffic', () => {
  let upstreams: FakeUpstream[];
  let gateway: TestGateway;
  let agent: Agent;
  before(async () => {
    upstreams = await Promise.all([startUpstream(answerEmptyObject), startUpstream(answerEmptyObject)]);
    gateway = await startGateway({ ...thingsAt(upstreams[0]?.url ?? ''), limits: roomy });
    agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  });
  after(async () => {
    agent.destroy();
    await gateway.stop();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  });

  function ask(path: string, authorization: string): Promise<string> {
    return new Promise((resolve) => {
      request(gateway.url + path, { agent, headers: { authorization } }, (answer) => {
        answer.resume().on('end', () => resolve(`${path} ${answer.statusCode}`));
      })
        .on('error', (error) => resolve(`${path} ${error.message}`))
        .end();
    });
  }

  it('lose no request, for every change: limits, targets, operations, tiers', async () => {
    const { authorization } = await gateway.authorize();
    const tiered = await gateway.authorize({ organization: 'org_tiered', tier: 'gone' });
    const seen = new Map<string, number>();
    let on = true;
    const client = async (path: string, credentials: string) => {
      while (on) {
        const answer = await ask(path, credentials);
        seen.set(answer, (seen.get(answer) ?? 0) + 1);
        if (PAUSE_MS > 0) await sleep(PAUSE_MS);
      }
    };
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      index % 4 === 0
        ? client('/v1/extra', authorization)
        : client('/v1/things', index % 4 === 1 ? tiered.authorization : authorization),
    );
    for (let count = 0; count < RELOADS; count += 1) await change(count);
    on = false;
    await Promise.all(clients);

    assert.deepEqual([...seen.keys()].sort(), ['/v1/extra 200', '/v1/extra 404', '/v1/things 200', '/v1/things 429']);
    assert.deepEqual(await reloadsCounted(gateway), { applied: RELOADS, refused: 0 });
    assert.equal((await inForce(gateway)).last_failure, null);
    assert.ok(upstreams.every(({ requests }) => requests.length > 0));
  });

  async function change(count: number): Promise<void> {
    const isOdd = count % 2 === 1;
    const { tiers } = roomy;
    const kind = Math.floor(count / 2) % 4;
    if (kind === 0) await saveAndReload(gateway, 'openapi/things.yaml', thingsContract(isOdd ? {} : extraPath));
    else if (kind === 1) {
      const { upstreams: entries } = thingsAt(upstreams[isOdd ? 0 : 1]?.url ?? '', { cost: count });
      await saveAndReload(gateway, 'config/upstreams.yaml', { upstreams: entries });
    } else if (kind === 2) {
      const few = { ...roomy, tiers: { standard: { requests: isOdd ? 2_000_000 + count : count } } };
      await saveAndReload(gateway, 'config/limits.yaml', few);
    } else {
      const gone = isOdd ? {} : { gone: { requests: 1 } };
      await saveAndReload(gateway, 'config/limits.yaml', { ...roomy, tiers: { ...tiers, ...gone } });
    }
  }

  it('leave no series twice in the metrics', async () => {
    const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    const series = text
      .split('\n')
      .flatMap((line) => (line === '' || line.startsWith('#') ? [] : [line.replace(/ \S+$/, '')]));
    assert.equal(new Set(series).size, series.length);
  });
});
