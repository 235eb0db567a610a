// Of several targets, one that fails gets nothing for a while and comes back by itself; an upstream that fails as a whole is spared too.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { ask, requestOf, until } from '../../support/connection.ts';
import { createSeveralTargets, fails, works } from './several-targets.ts';

const start = closesAfterEach();
const quickly = { failures: 2, baseSeconds: 3, maxSeconds: 3, slowStartSeconds: 0 };

describe('of several targets', () => {
  it('a slow one gets less', async () => {
    const { upstreams, call, counts } = await start(createSeveralTargets(2));
    let release = () => {};
    upstreams[0]?.plays((socket) => {
      release = () => socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}');
    });
    const both = [call(), call()];
    await until(() => counts().every((count) => count === 1));
    for (let i = 0; i < 6; i++) assert.equal((await call()).status, 200);
    assert.deepEqual(counts(), [1, 7]);
    release();
    for (const answer of await Promise.all(both)) assert.equal(answer.status, 200);
  });

  it('one that fails is ejected, tried, and comes back', async () => {
    const scene = await start(createSeveralTargets(2, { ejection: quickly, breaker: 'off' }));
    const { upstreams, calls, counts, status, gateway } = scene;
    fails(upstreams[0]);
    await calls(20);
    assert.equal(counts()[0], 2, 'it gets nothing after two failures');
    const [ejected, other] = (await status()).targets;
    assert.equal(ejected?.state, 'ejected');
    assert.equal(ejected.consecutive_failures, 2);
    assert.ok(Date.parse(ejected.ejected_until as string) > Date.now());
    assert.deepEqual([other?.state, other?.ejected_until, other?.outstanding], ['healthy', null, 0]);
    const target = `{upstream="things",mode="live",target="${upstreams[0]?.url}"}`;
    const metrics = await scene.metrics();
    assert.ok(metrics.includes(`gateway_upstream_target_up${target} 0`));
    assert.ok(metrics.includes(`gateway_upstream_ejections_total${target} 1`));

    works(upstreams[0]);
    await untilState(scene, 0, 'trial');
    await calls(4);
    assert.ok((counts()[0] as number) > 2);
    await untilState(scene, 0, 'healthy');
    const told = gateway.logLines().filter(({ state }) => state !== undefined);
    assert.deepEqual(
      told.map(({ upstream, target, state }) => [upstream, target, state]),
      [
        ['things', upstreams[0]?.url, 'ejected'],
        ['things', upstreams[0]?.url, 'returning'],
      ],
    );
  });

  it('a refused connection counts as failed, a mistake of the client does not', async () => {
    const { upstreams, calls, counts, status } = await start(createSeveralTargets(2, { ejection: quickly }));
    fails(upstreams[1], 422);
    await upstreams[0]?.close();
    await calls(12);
    assert.deepEqual(
      (await status()).targets.map(({ state }) => state),
      ['ejected', 'healthy'],
    );
    assert.ok((counts()[1] as number) >= 10);
  });

  it('one that errs on everything is taken out beside others', async () => {
    const { upstreams, calls, status } = await start(
      createSeveralTargets(2, { ejection: { ...quickly, baseSeconds: 600, maxSeconds: 600 } }),
    );
    fails(upstreams[0], 500);
    await calls(12);
    assert.equal((await status()).targets[0]?.state, 'ejected');
  });

  it('one that is ejected gets nothing through tunnels either', async () => {
    const entry = { ejection: { ...quickly, baseSeconds: 600, maxSeconds: 600 }, tunnels: [{ paths: ['/open/*'] }] };
    const { upstreams, calls, gateway } = await start(createSeveralTargets(2, entry));
    fails(upstreams[0]);
    const through = async () => (await ask(gateway.port, requestOf('GET /open/things'))).status;
    assert.deepEqual([await through(), await through()].sort(), [200, 503]);
    await calls(6);
    assert.deepEqual([await through(), await through(), await through()], [200, 200, 200]);
  });

  it('a reload brings an ejected one not back', async () => {
    const { upstreams, calls, counts, status, gateway } = await start(
      createSeveralTargets(2, { ejection: { ...quickly, baseSeconds: 600, maxSeconds: 600 } }),
    );
    fails(upstreams[0]);
    await calls(6);
    const file = join(gateway.directory, 'config/upstreams.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"things": {', '"things": { "timeoutMs": 9000,'));
    await gateway.app.reload();
    assert.match(JSON.stringify(gateway.logLines()), /the configuration was loaded anew/);
    await calls(6);
    assert.equal(counts()[0], 2);
    assert.equal((await status()).targets[0]?.state, 'ejected');
  });
});

describe('a single target', () => {
  const breaker = { requestsMin: 4, openSeconds: 3, windowSeconds: 60 };

  it('is never ejected; the breaker gives the wait, tries, and closes', async () => {
    // The first wait is a thirty-second of it.
    const slow = { ...breaker, openSeconds: 64 };
    const scene = await start(
      createSeveralTargets(1, { ejection: { failures: 1 }, breaker: slow, retry: { attempts: 0 } }),
    );
    const { upstreams, call, calls, counts, status, gateway } = scene;
    fails(upstreams[0], 503);
    assert.deepEqual(await calls(4), [503, 503, 503, 503]);
    const refused = await call();
    assert.deepEqual([refused.status, refused.error.code], [503, 'upstream_unavailable']);
    assert.match(String(refused.headers['retry-after']), /^[123]$/);
    assert.equal(refused.headers['proxy-status'], 'api-gateway; error=destination_unavailable');
    assert.equal(counts()[0], 4, 'nothing is sent');
    assert.equal((await status()).breaker.live, 'open');
    assert.equal((await status()).targets[0]?.state, 'failing');
    assert.match(await scene.metrics(), /^gateway_upstream_breaker_state\{upstream="things",mode="live"\} 2$/m);

    await untilBreaker(scene, 'half_open');
    works(upstreams[0]);
    assert.deepEqual(await calls(3), [200, 200, 200]);
    assert.equal((await status()).breaker.live, 'closed');
    const told = gateway.logLines().filter(({ msg }) => String(msg).startsWith('the circuit breaker'));
    assert.deepEqual(
      told.map(({ state, reason }) => [state, reason]),
      [
        ['open', 'status 503'],
        ['closed', undefined],
      ],
    );
  });

  it('that answers with errors is sent everything: the errors of one caller must not stop the others', async () => {
    const { upstreams, calls, status } = await start(createSeveralTargets(1, { breaker }));
    fails(upstreams[0], 500);
    assert.deepEqual(await calls(6), [500, 500, 500, 500, 500, 500]);
    works(upstreams[0]);
    assert.deepEqual(await calls(1), [200]);
    assert.equal((await status()).breaker.live, 'closed');
  });

  it('is sent everything where the breaker is off', async () => {
    const { upstreams, calls, counts } = await start(
      createSeveralTargets(1, { breaker: 'off', retry: { attempts: 0 } }),
    );
    fails(upstreams[0]);
    await calls(25);
    assert.equal(counts()[0], 25);
  });
});

type Scene = Awaited<ReturnType<typeof createSeveralTargets>>;

async function untilState({ status }: Scene, index: number, state: string): Promise<void> {
  while ((await status()).targets[index]?.state !== state) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function untilBreaker({ status }: Scene, state: string): Promise<void> {
  while ((await status()).breaker.live !== state) await new Promise((resolve) => setTimeout(resolve, 20));
}
