// However a file gets there, the gateway notices it by itself.

import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { thingsAt, thingsContract } from '../../support/things.ts';
import { createWorld, type World } from '../../support/world.ts';
import { inForce, roomy, save, until } from './files.ts';

const limitsOf = (requests: number) => JSON.stringify({ ...roomy, tiers: { standard: { requests } } });

describe('a configuration that is saved', () => {
  let world: World;
  before(async () => {
    world = await createWorld();
  });
  after(() => world.close());

  const untilLimitIs = (limit: number) =>
    until(async () => (await world.call('GET /v1/things')).headers['x-ratelimit-limit'] === String(limit));

  it('is in force soon, and log, audit log and /status say which files have changed', async () => {
    const before = await inForce(world.gateway);
    save(world.gateway, 'config/limits.yaml', limitsOf(701));
    await untilLimitIs(701);
    const { version, last_failure } = await inForce(world.gateway);
    assert.notEqual(version, before.version);
    assert.match(version, /^[0-9a-f]{12}$/);
    assert.equal(last_failure, null);
    const line = world.gateway.logLines().find(({ msg }) => /loaded anew/.test(String(msg)));
    assert.deepEqual([line?.level, line?.version], [30, version]);
    assert.deepEqual(line?.files, [join(world.gateway.directory, 'config/limits.yaml')]);
    const [row] = await world.gateway.store.audit.list({ limit: 1 });
    assert.deepEqual(
      [row?.details.outcome, row?.details.version, row?.details.files],
      ['applied', version, line?.files],
    );
  });

  it('may be written aside and renamed, as editors do', async () => {
    const { directory } = world.gateway;
    writeFileSync(join(directory, 'config/limits.yaml.swp'), limitsOf(702));
    renameSync(join(directory, 'config/limits.yaml.swp'), join(directory, 'config/limits.yaml'));
    await untilLimitIs(702);
  });

  it('may be a link that is pointed elsewhere, as volumes of containers are', async () => {
    const { directory } = world.gateway;
    const file = join(directory, 'config/limits.yaml');
    for (const requests of [703, 704]) {
      const version = join(directory, `volume-${requests}`);
      mkdirSync(version);
      writeFileSync(join(version, 'limits.yaml'), limitsOf(requests));
      symlinkSync(version, join(directory, 'new'));
      renameSync(join(directory, 'new'), join(directory, 'volume'));
      if (requests === 703) {
        rmSync(file);
        symlinkSync(join(directory, 'volume/limits.yaml'), file);
      }
      await untilLimitIs(requests);
    }
  });

  it('may be a contract that is new, or a file that a contract refers to', async () => {
    const { gateway, upstream } = world;
    const { things } = thingsAt(upstream.url).upstreams;
    save(gateway, 'config/upstreams.yaml', {
      upstreams: { things: { ...things, contracts: ['things.yaml', 'new/*.yaml'] } },
    });
    const { paths, ...rest } = thingsContract() as { paths: Record<string, object> };
    const parameters = [{ $ref: '../parts.yaml#/size' }];
    const sized = { ...paths['/v1/things'], get: { ...get(paths), operationId: 'listSized', parameters } };
    const size = (maximum: number) => ({ size: { name: 'size', in: 'query', schema: { type: 'integer', maximum } } });
    save(gateway, 'openapi/parts.yaml', size(5));
    save(gateway, 'openapi/new/sized.yaml', { ...rest, paths: { '/v1/sized': { get: sized.get } } });
    await until(async () => (await world.call('GET /v1/sized?size=5')).status === 200);
    assert.equal((await world.call('GET /v1/sized?size=6')).status, 400);
    save(gateway, 'openapi/parts.yaml', size(6));
    await until(async () => (await world.call('GET /v1/sized?size=6')).status === 200);
  });
});

function get(paths: Record<string, object>): object {
  return (paths['/v1/things'] as { get: object }).get;
}
