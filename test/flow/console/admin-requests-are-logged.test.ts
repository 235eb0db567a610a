// One line per request to the admin listener: the request and its result, no secret, and no probes and scrapes.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import supertest from 'supertest';
import { startGateway, type TestGateway } from '../../support/gateway.ts';

const TOKEN = 'a-token-made-for-this-test';
const COOKIE = 'marker-of-a-cookie';

const linesOf = (gateway: TestGateway) => gateway.logLines().filter(({ msg }) => msg === 'admin request');

describe('requests to the admin listener', () => {
  let gateway: TestGateway;
  let admin: ReturnType<typeof supertest.agent>;
  before(async () => {
    gateway = await startGateway({ environment: { ADMIN_HOST: '0.0.0.0', ADMIN_TOKEN: TOKEN } });
    admin = supertest.agent(gateway.adminUrl).set({ Authorization: `Bearer ${TOKEN}`, Cookie: `session=${COOKIE}` });
  });
  after(() => gateway.stop());

  it('have a line with the id of the answer, and without query, token and cookie', async () => {
    const { headers } = await admin.post('/limits/reset?organization=org_asked&by=me').expect(404);
    const [line, ...others] = linesOf(gateway);
    const { time, duration_ms, client, ...rest } = line ?? {};
    assert.deepEqual(rest, {
      level: 30,
      request_id: headers['x-request-id'],
      method: 'POST',
      path: '/limits/reset',
      status: 404,
      msg: 'admin request',
    });
    assert.match(String(rest.request_id), /^admin_[0-9a-f]{20}$/);
    assert.deepEqual([typeof time, typeof duration_ms, others], ['number', 'number', []]);
    assert.match(String(client), /127\.0\.0\.1$/);
    const everything = JSON.stringify(gateway.logLines());
    for (const secret of [TOKEN, COOKIE, 'org_asked']) assert.ok(!everything.includes(secret), secret);
  });

  it('have a line too when they are refused', async () => {
    const { headers } = await supertest(gateway.adminUrl).get('/status').expect(401);
    const line = linesOf(gateway).find((one) => one.request_id === headers['x-request-id']);
    assert.deepEqual([line?.path, line?.status, line?.level], ['/status', 401, 30]);
  });

  it('have none if they are probes, scrapes or polls of the console that succeed', async () => {
    const [, script = ''] = /type="module" src="([^"]+)"/.exec((await admin.get('/')).text) ?? [];
    assert.match(script, /console\.js$/);
    const before = linesOf(gateway).length;
    for (const path of ['/livez', '/readyz', '/metrics', '/console/feed', script]) await admin.get(path).expect(200);
    assert.equal(linesOf(gateway).length, before);
    await supertest(gateway.adminUrl).get('/metrics').expect(401);
    assert.equal(linesOf(gateway).length, before + 1);
  });
});

describe('scrapes', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ gateway: { logLevel: 'debug' } });
  });
  after(() => gateway.stop());

  it('have a line at the level debug', async () => {
    await supertest(gateway.adminUrl).get('/metrics').expect(200);
    assert.deepEqual(
      linesOf(gateway).map(({ path, level }) => [path, level]),
      [['/metrics', 20]],
    );
  });
});
