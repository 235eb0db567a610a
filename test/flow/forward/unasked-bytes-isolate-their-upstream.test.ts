// Once a connection of an upstream has delivered bytes that no request asked for, each request gets a connection of its own. Operators see
// it in the log, in a metric, in /status and in the console, and no client sees anything.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { until } from '../../support/connection.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import { createWorld } from '../../support/world.ts';

const start = closesAfterEach();
const FORGED = httpAnswer(200, '{"whose":"another"}');

describe('unasked bytes on an idle connection', () => {
  it('are the last that can meet a request', async () => {
    const world = await start(createWorld());
    const sockets: import('node:net').Socket[] = [];
    world.upstream.plays((socket) => {
      sockets.push(socket);
      socket.write(httpAnswer(200, '{"whose":"own"}'));
    });
    const isOwn = async () => {
      const answer = await world.call('GET /v1/things');
      assert.deepEqual([answer.status, answer.body.toString()], [200, '{"whose":"own"}']);
    };
    for (let i = 0; i < 3; i++) await isOwn();
    assert.equal(new Set(sockets).size, 1);
    sockets[0]?.write(FORGED);
    const warnings = () => world.gateway.logLines().filter(({ msg }) => /no request asked for/.test(String(msg)));
    await until(() => warnings().length > 0);
    for (let i = 0; i < 5; i++) {
      await isOwn();
      assert.match(world.upstream.received.at(-1) ?? '', /\r\nconnection: close\r\n/);
    }
    assert.equal(new Set(sockets).size, 6);
    const [warning] = warnings();
    assert.deepEqual([warnings().length, warning?.level, warning?.upstream], [1, 40, 'things']);

    const { adminUrl } = world.gateway;
    const status = (await (await fetch(`${adminUrl}/status`)).json()) as {
      upstreams: Record<string, { isolated_until: string }>;
    };
    const until10 = Date.parse(status.upstreams.things?.isolated_until ?? '');
    assert.ok(Math.abs(until10 - Date.now() - 600_000) < 60_000, String(until10));
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    assert.match(metrics, /^gateway_upstream_unasked_bytes_total\{upstream="things"\} 1$/m);
  });

  it('after each answer keep it so, and cost one warning', async () => {
    const world = await start(createWorld());
    world.upstream.plays((socket) => socket.write(httpAnswer(200, '{"whose":"own"}') + FORGED));
    for (let i = 0; i < 4; i++) {
      const answer = await world.call('GET /v1/things');
      assert.deepEqual([answer.status, answer.body.toString()], [200, '{"whose":"own"}']);
    }
    const metrics = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
    assert.match(metrics, /^gateway_upstream_unasked_bytes_total\{upstream="things"\} 4$/m);
    const warnings = world.gateway.logLines().filter(({ msg }) => /no request asked for/.test(String(msg)));
    assert.equal(warnings.length, 1);
  });
});
