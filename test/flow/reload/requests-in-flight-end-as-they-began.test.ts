// A request is answered under the configuration it arrived under; parts that only that configuration needed are closed afterwards.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { httpAnswer, type ScriptedUpstream, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { thingsAt, thingsContract } from '../../support/things.ts';
import { createWorld, type World } from '../../support/world.ts';
import { roomy, saveAndReload } from './files.ts';

describe('a request in flight', () => {
  let world: World;
  let other: ScriptedUpstream;
  before(async () => {
    other = await startScriptedUpstream();
    world = await createWorld({ limits: { ...roomy, tiers: { standard: { requests: 100 } } } });
  });
  after(async () => {
    await world.close();
    await other.close();
  });

  /** Sends a request and waits until it is at the upstream, which then answers when the test says so. */
  async function inFlight(line: string) {
    const arrived = new Promise<Socket>((resolve) => world.upstream.plays((socket) => resolve(socket)));
    const answer = world.call(line);
    const socket = await arrived;
    return { answer, socket, conclude: () => socket.write(httpAnswer(200, '{"late":true}')) };
  }

  it('gets its answer from a removed target, whose connections are then closed; the next one goes elsewhere', async () => {
    const slow = await inFlight('GET /v1/things');
    const { upstreams } = thingsAt(other.url);
    await saveAndReload(world.gateway, 'config/upstreams.yaml', { upstreams });
    assert.equal((await world.call('GET /v1/things')).status, 200);
    assert.equal(other.received.length, 1);

    const closed = new Promise((resolve) => slow.socket.once('close', resolve));
    assert.equal(slow.socket.destroyed, false);
    slow.conclude();
    const answer = await slow.answer;
    assert.deepEqual([answer.status, answer.body.toString()], [200, '{"late":true}']);
    await closed;
  });

  it('goes to a target that is gone if its body was still arriving then', async () => {
    await saveAndReload(world.gateway, 'config/upstreams.yaml', { upstreams: thingsAt(world.upstream.url).upstreams });
    world.upstream.plays((socket) => socket.write(httpAnswer(201, '{}')));
    const [before, elsewhere] = [world.upstream.received.length, other.received.length];
    const body = '{"name":"it"}';
    const { authorization } = world;
    const headers = { authorization, 'content-type': 'application/json', expect: '100-continue' };
    const sent = request(`${world.gateway.url}/v1/things`, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
    });
    const status = new Promise((resolve, reject) => {
      sent.once('error', reject).once('response', (answer) => resolve(answer.resume().statusCode));
    });
    sent.flushHeaders();
    // The gateway has begun to read the body, and so to work on the request.
    await once(sent, 'continue');
    await saveAndReload(world.gateway, 'config/upstreams.yaml', { upstreams: thingsAt(other.url).upstreams });
    sent.end(body);
    assert.equal(await status, 201);
    assert.deepEqual([world.upstream.received.length, other.received.length], [before + 1, elsewhere]);
  });

  it('gets its answer from an operation that is gone, with the limits it began with', async () => {
    await saveAndReload(world.gateway, 'config/upstreams.yaml', { upstreams: thingsAt(world.upstream.url).upstreams });
    const slow = await inFlight('GET /v1/files');
    await saveAndReload(world.gateway, 'openapi/things.yaml', thingsContract({ '/v1/files': {} }));
    await saveAndReload(world.gateway, 'config/limits.yaml', { ...roomy, tiers: { standard: { requests: 50 } } });
    assert.equal((await world.call('GET /v1/files')).status, 404);
    slow.socket.write(httpAnswer(200, 'bytes', { 'Content-Type': 'application/octet-stream' }));
    const answer = await slow.answer;
    assert.deepEqual([answer.status, answer.headers['x-ratelimit-limit']], [200, '100']);
  });

  it('keeps connections to a target that stays', async () => {
    await saveAndReload(world.gateway, 'openapi/things.yaml', thingsContract());
    const sockets = new Set<Socket>();
    world.upstream.plays((socket) => {
      sockets.add(socket);
      socket.write(httpAnswer(200, '{}'));
    });
    await world.call('GET /v1/things');
    await saveAndReload(world.gateway, 'config/limits.yaml', { ...roomy, tiers: { standard: { requests: 60 } } });
    const answer = await world.call('GET /v1/things');
    assert.deepEqual([answer.headers['x-ratelimit-limit'], sockets.size], ['60', 1]);
  });
});
