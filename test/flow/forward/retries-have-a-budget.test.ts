// When everything fails, repeating makes it worse: a storm is answered with at most a tenth more requests, and three per second.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { httpAnswer, type Script } from '../../support/scripted-upstream.ts';
import { createWorld } from '../../support/world.ts';

const start = closesAfterEach();
const apart = { ejection: 'off', breaker: 'off', connections: 64 };

const storms: Readonly<Record<string, Script>> = {
  'answers 503': (socket) => socket.write(httpAnswer(503, '{}')),
  'resets every connection': (socket) => socket.resetAndDestroy(),
  'closes every connection': (socket) => void socket.end(),
};

describe('an upstream', () => {
  for (const [name, script] of Object.entries(storms)) {
    it(`that ${name} gets a tenth more than its requests`, async () => {
      const world = await start(createWorld({}, apart));
      world.upstream.plays(script);
      const startedAt = performance.now();
      for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 20 }, () => world.call('GET /v1/things')));
      const seconds = (performance.now() - startedAt) / 1000;
      const text = await (await fetch(`${world.gateway.adminUrl}/metrics`)).text();
      const counts = text.matchAll(/^gateway_upstream_retries_total\{.*\} (\d+)$/gm);
      const more = [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
      assert.ok(more >= 15, `${more} retries`);
      assert.ok(more <= 20 + 3 + 3 * seconds, `${more} retries`);
      assert.ok(world.upstream.received.length <= 200 + more, `${world.upstream.received.length} requests`);
      const spent = /^gateway_upstream_retry_budget_exhausted_total\{upstream="things"\} (\d+)$/m.exec(text);
      assert.ok(Number(spent?.[1]) > 100);
      assert.ok(world.gateway.logLines().some(({ retry_budget_spent }) => retry_budget_spent === true));
    });
  }
});
