// A service that fails is named while Redis is away, and its end is not told before it ends: known callers still reach it.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import { startAlertReceiver } from '../../support/alert-receiver.ts';
import { startGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { apartAt, startRedis, startRelay } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';

const FAILING = 'operation GET /v1/things';

it('a service fails, and Redis goes', async () => {
  const [redis, pager] = await Promise.all([startRedis(), startAlertReceiver()]);
  const relay = await startRelay(apartAt(redis.url));
  const upstream = await startUpstream(({ url }, response) =>
    response.writeHead(url === '/v1/things' ? 500 : 200).end(),
  );
  const things = thingsAt(upstream.url, { breaker: 'off', retry: { attempts: 0 } });
  const alerts = {
    receivers: { pager: { webhook: { url: pager.url, secret: 'pager_key' } } },
    ...{ forSeconds: 0, recoverySeconds: 0, groupSeconds: 0 },
  };
  const start = () =>
    startGateway({
      ...things,
      gateway: { alerts },
      environment: { REDIS_URL: relay.url, PAGER_KEY: pager.secret },
    });
  const gateway = await start();
  const other = await start();
  try {
    const { authorization } = await gateway.authorize();
    const ask = (path: string) => fetch(gateway.url + path, { headers: { authorization } });
    const causes = async () => {
      const { causes: all } = (await (await fetch(`${gateway.adminUrl}/causes`)).json()) as CausesReport;
      return all.map(({ id }) => id);
    };
    for (let sent = 0; sent < 4; sent += 1) {
      await ask('/v1/things');
      await ask('/v1/things/1');
    }
    await eventually(async () => (await causes()).includes(FAILING));
    await eventually(async () => pager.told().flat().includes(`firing ${FAILING}`));
    await relay.kill();
    await eventually(async () => (await causes()).includes('redis'));
    assert.equal((await ask('/v1/things')).status, 500);
    assert.ok((await causes()).includes(FAILING));
    await eventually(async () => pager.told().flat().includes('firing redis'));
    // The instances cannot ask each other, so that a message has the figures of one.
    const redisCauses = pager.delivered.flatMap((one) => one.alerts).filter(({ id }) => id === 'redis');
    assert.equal(redisCauses[0]?.instances.length, 1);
    assert.ok(!pager.told().flat().includes(`resolved ${FAILING}`), pager.told().join());
  } finally {
    await Promise.all([gateway.stop(), other.stop()]);
    await Promise.all([upstream.close(), pager.close(), relay.stop()]);
    await redis.stop();
  }
});
