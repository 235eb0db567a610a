// Two versions side by side: every answer of the older one has deprecation headers, until it has ended; the newer one has none.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gatewayFileOf } from '../../support/configuration.ts';
import type { Answer } from '../../support/connection.ts';
import { runCases } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createTwoVersions, GUIDE, lives, NOW_MS, secondVersion } from '../../support/versions.ts';
import type { World } from '../../support/world.ts';
import { versionCases } from '../errors/version.cases.ts';
import { saveAndReload } from '../reload/files.ts';

const json = { 'Content-Type': 'application/json' };

function assertDeprecated({ headers }: Answer, successor: string): void {
  assert.equal(headers.deprecation, '@1799971200');
  assert.equal(headers.sunset, 'Mon, 17 Jan 2028 00:00:00 GMT');
  assert.equal(
    headers.link,
    [
      `<${GUIDE}>; rel="deprecation"; type="text/html"`,
      `<${GUIDE}>; rel="sunset"; type="text/html"`,
      `<http://localhost:8080${successor}>; rel="successor-version"`,
    ].join(', '),
  );
}

describe('two versions side by side', () => {
  let world: World;
  let nowMs = NOW_MS;
  before(async () => {
    const cors = { 'api.test': { origins: ['https://app.example.com'] } };
    world = await createTwoVersions({ now: () => nowMs, gateway: { ...lives, cors } });
  });
  after(() => world.close());

  runCases(versionCases, () => world);

  it('are both served; only the older one announces its end', async () => {
    const [old, fresh] = [await world.call('GET /v1/things'), await world.call('GET /v2/things')];
    assert.deepEqual([old.status, fresh.status], [200, 200]);
    assertDeprecated(old, '/v2/things');
    for (const name of ['deprecation', 'sunset', 'link']) assert.equal(fresh.headers[name], undefined, name);
  });

  it('HEAD has it too, and an operation with parameters points at their collection', async () => {
    assertDeprecated(await world.call('GET /v1/things/t1'), '/v2/things');
  });

  it('an operation without a counterpart points at the description of the next version', async () => {
    assertDeprecated(await world.call('GET /v1/strict'), '/openapi/v2.json');
  });

  it('refusals after the match say it: without a key, and of the contract', async () => {
    const [unknown, invalid] = [
      await world.call('GET /v1/things', { Authorization: undefined }),
      await world.call('POST /v1/things', json, '{}'),
    ];
    assert.deepEqual([unknown.status, invalid.status], [401, 400]);
    assertDeprecated(unknown, '/v2/things');
    assertDeprecated(invalid, '/openapi/v2.json');
  });

  it('an answer that is given again has it once', async () => {
    const keyed = { ...json, 'Idempotency-Key': 'once' };
    world.upstream.plays((socket) => socket.write(httpAnswer(201, '{}')));
    await world.call('POST /v1/things', keyed, '{"name":"a"}');
    const again = await world.call('POST /v1/things', keyed, '{"name":"a"}');
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assertDeprecated(again, '/openapi/v2.json');
  });

  it("an upstream's own deprecation headers are dropped, and its other links stay", async () => {
    const said = {
      Deprecation: '@1',
      Sunset: 'Thu, 01 Jan 1970 00:00:00 GMT',
      Link: '<https://internal>; rel="sunset", </v2/things?cursor=x>; rel="next", <https://i>; rel=successor-version',
    };
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '{}', said)));
    const answer = await world.call('GET /v2/things');
    assert.equal(answer.headers.link, '</v2/things?cursor=x>; rel="next"');
    assert.equal(answer.headers.deprecation, undefined);
    assert.equal(answer.headers.sunset, undefined);
  });

  it('pages of other origins may read it, also where something has ended', async () => {
    const origin = { Origin: 'https://app.example.com' };
    for (const line of ['GET /v1/things', 'POST /v1/orders']) {
      const { headers } = await world.call(line, origin);
      assert.equal(headers['access-control-allow-origin'], 'https://app.example.com');
      assert.match(headers['access-control-expose-headers'] ?? '', /Link.*Deprecation.*Sunset/);
    }
  });

  it('an unknown version gets the list of existing ones', async () => {
    const { error } = await world.call('GET /v3/things');
    assert.deepEqual([error.code, error.supported_versions], ['version_unknown', ['v1', 'v2']]);
  });

  it('the day it ends, by the clock and without a reload, everything below it is gone for good', async () => {
    nowMs = Date.parse('2028-01-17T00:00:00Z') - 1;
    assert.equal((await world.call('GET /v1/things')).status, 200);
    nowMs += 1;
    for (const line of ['GET /v1/things', 'GET /v1/never-there', 'DELETE /v1/things']) {
      const { status, error, headers } = await world.call(line);
      assert.deepEqual([status, error.code, error.successor], [410, 'version_sunset', 'v2'], line);
      assert.match(headers.link ?? '', /rel="successor-version"/);
    }
    assert.equal((await world.call('GET /v2/things')).status, 200);
    nowMs = NOW_MS;
  });

  it('a reload may change all of it', async () => {
    await saveAndReload(world.gateway, 'config/gateway.yaml', gatewayFileOf());
    const { headers } = await world.call('GET /v1/things');
    assert.equal(headers.deprecation, undefined);
  });
});

describe('a version that has ended', () => {
  it('is answered with 410 even when its contracts have been taken away', async () => {
    const contracts = { 'things.yaml': secondVersion, 'things2.yaml': { components: {} } };
    const { v1, v2 } = lives.versions;
    const gateway = { versions: { v1, v2 } };
    const world = await createTwoVersions({ contracts, gateway, now: () => Date.parse('2028-02-01') });
    const { status, error } = await world.call('GET /v1/things/t1');
    await world.close();
    assert.deepEqual([status, error.code, error.sunset], [410, 'version_sunset', '2028-01-17']);
  });
});
