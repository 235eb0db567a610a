// The clock of the machine is set back or forward by an hour under a serving gateway: nothing hangs, nothing breaks, and assertions fit the
// time of the upstreams as well.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { decodeJwt } from 'jose';
import { closesAfterEach } from '../../support/closing.ts';
import { startGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type Answer, startUpstream } from '../../support/upstream.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const start = closesAfterEach();

const answerCreated: Answer = (_request, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"thing_1"}');

async function startWorld(limits: Record<string, unknown> = {}) {
  const clock = { ms: Date.now() };
  const upstream = await start(startUpstream(answerCreated));
  const gateway = await start(startGateway({ ...thingsAt(upstream.url), limits, now: () => clock.ms }));
  const headers = await gateway.authorize();
  const get = (given: Record<string, string> = headers) => fetch(`${gateway.url}/v1/things`, { headers: given });
  const errorOf = async (answer: Response) => ((await answer.json()) as { error?: { code: string } }).error?.code;
  return { clock, upstream, gateway, headers, get, errorOf };
}

describe('a clock that is set', () => {
  for (const [how, stepMs] of [
    ['back', -HOUR_MS],
    ['forward', HOUR_MS],
  ] as const) {
    it(`${how} lengthens no wait for a limit beyond its span`, async () => {
      const { clock, get } = await startWorld({ tiers: { standard: { requests: 2 } } });
      for (let count = 0; count < 2; count += 1) assert.equal((await get()).status, 200);
      assert.equal((await get()).status, 429);
      clock.ms += stepMs;
      const after = await get();
      assert.ok(Number(after.headers.get('retry-after') ?? 0) <= 60, `${after.headers.get('retry-after')} s`);
      clock.ms += MINUTE_MS + 1;
      assert.equal((await get()).status, 200);
    });

    it(`${how} shuts no address out for longer than its span`, async () => {
      const { clock, get, errorOf } = await startWorld({ addresses: { failures: 2, windowSeconds: 60 } });
      const unknown = { authorization: 'Bearer nonsense' };
      for (let count = 0; count < 3; count += 1) await get(unknown);
      assert.equal(await errorOf(await get(unknown)), 'auth_attempts_limited');
      clock.ms += stepMs;
      await get(unknown);
      clock.ms += MINUTE_MS + 1;
      assert.equal(await errorOf(await get(unknown)), 'api_key_malformed');
    });

    it(`${how} sends upstreams assertions that are valid at their time`, async () => {
      const { clock, get, upstream } = await startWorld();
      await get();
      clock.ms += stepMs;
      await get();
      const { iat = 0, exp = 0 } = decodeJwt(String(upstream.requests.at(-1)?.headers['x-gateway-assertion']));
      const seconds = Math.floor(clock.ms / 1000);
      assert.ok(iat <= seconds && exp > seconds && exp <= seconds + 60, `${iat - seconds}, ${exp - seconds}`);
    });

    it(`${how} leaves writes that were done as done`, async () => {
      const { clock, gateway, headers, upstream } = await startWorld();
      const key = { 'idempotency-key': randomUUID(), 'content-type': 'application/json' };
      const post = () =>
        fetch(`${gateway.url}/v1/things`, { method: 'POST', headers: { ...headers, ...key }, body: '{"name":"a"}' });
      const first = await post();
      clock.ms += stepMs;
      const second = await post();
      assert.deepEqual([second.status, second.headers.get('idempotent-replayed')], [first.status, 'true']);
      assert.equal(upstream.requests.length, 1);
    });

    it(`${how} leaves log lines and the status whole`, async () => {
      const { clock, gateway, get } = await startWorld();
      await get();
      clock.ms += stepMs;
      const id = (await get()).headers.get('x-request-id');
      const line = gateway.logLines().find((one) => JSON.stringify(one).includes(String(id)));
      assert.ok(line !== undefined);
      const status = await fetch(`${gateway.adminUrl}/status`);
      assert.equal(((await status.json()) as { lifecycle: string }).lifecycle, 'serving');
    });
  }

  it('back accepts no key that had expired by then for longer than the clock says', async () => {
    const { clock, gateway, get, errorOf } = await startWorld();
    const brief = await gateway.authorize({ expiresAtMs: clock.ms + 30 * MINUTE_MS });
    assert.equal((await get(brief)).status, 200);
    clock.ms += HOUR_MS;
    assert.equal(await errorOf(await get(brief)), 'api_key_expired');
    clock.ms -= HOUR_MS;
    assert.equal((await get(brief)).status, 200);
  });
});
