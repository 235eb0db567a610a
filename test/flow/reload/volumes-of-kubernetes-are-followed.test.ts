// ConfigMaps and Secrets that are mounted as directories change under a running gateway: it notices by itself, and takes all files or none.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import { mountVolume, type Volume } from '../../support/deploy/volume.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt, thingsContract } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';
import { inForce, roomy, until } from './files.ts';

const limitsOf = (requests: number) => JSON.stringify({ ...roomy, tiers: { standard: { requests } } });

describe('a gateway with files on volumes of Kubernetes', () => {
  let gateway: TestGateway;
  let upstream: FakeUpstream;
  let authorization: string;
  let config: Record<string, string>;
  const contract = (paths?: Record<string, object>) => ({ 'v1/things.yaml': JSON.stringify(thingsContract(paths)) });
  const volumes: Volume[] = [];

  before(async () => {
    upstream = await startUpstream();
    const { upstreams } = thingsAt(upstream.url);
    gateway = await startGateway({
      upstreams: { things: { ...upstreams.things, contracts: ['v1/*.yaml'] } },
      contracts: { 'things.yaml': thingsContract() },
      prepare(directory) {
        const place = join(directory, 'config');
        config = Object.fromEntries(readdirSync(place).map((file) => [file, readFileSync(join(place, file), 'utf8')]));
        for (const name of ['config', 'openapi']) rmSync(join(directory, name), { recursive: true });
        volumes.push(mountVolume(place, config), mountVolume(join(directory, 'openapi'), contract()));
      },
    });
    authorization = (await gateway.authorize()).authorization;
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const get = (path: string): Promise<Answer> => ask(gateway.port, requestOf(`GET ${path}`, { authorization }));
  const limit = async () => (await get('/v1/things')).headers['x-ratelimit-limit'];

  it('follows a ConfigMap of its configuration, update after update', async () => {
    for (const requests of [801, 802]) {
      volumes[0]?.update({ ...config, 'limits.yaml': limitsOf(requests) });
      await until(async () => (await limit()) === String(requests));
    }
  });

  it('keeps the present configuration when an update has a mistake in one of the files', async () => {
    volumes[0]?.update({ ...config, 'limits.yaml': limitsOf(803), 'upstreams.yaml': 'upstreams: { things: 1 }' });
    await until(async () => (await inForce(gateway)).last_failure !== null);
    assert.equal(await limit(), '802');
    volumes[0]?.update({ ...config, 'limits.yaml': limitsOf(803) });
    await until(async () => (await limit()) === '803');
    assert.equal((await inForce(gateway)).last_failure, null);
  });

  it('follows a ConfigMap of contracts, which lie in directories', async () => {
    assert.equal((await get('/v1/more')).status, 404);
    const more = {
      get: { operationId: 'listMore', 'x-gateway-public': true, responses: { 200: { description: 'ok' } } },
    };
    volumes[1]?.update(contract({ '/v1/more': more }));
    await until(async () => (await get('/v1/more')).status === 200);
  });
});
