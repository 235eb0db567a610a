// Health checks of one target, and how much of an answer they need.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CheckResult, createHealthCheck } from '../../../gateway/upstream/targets/health-check.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { createPoolScene } from '../http1/client/peer.ts';

const start = closesAfterEach();
const rules = { path: '/', intervalMs: 10, timeoutMs: 200, healthyAfter: 1, unhealthyAfter: 1 };

describe('a health check', () => {
  it('has its result with the head of the answer, even if the body never ends', async () => {
    const { peer, pool } = await createPoolScene(start);
    peer.plays(({ socket }) => void socket.write('HTTP/1.1 200 OK\r\n\r\nabc'));
    const result = await new Promise<CheckResult>((resolve) => {
      const told = { onResult: resolve, onVerdict: () => undefined };
      const healthCheck = createHealthCheck(rules, { isHealthy: true, connect: () => pool, now: Date.now, ...told });
      void start({ destroy: healthCheck.stop });
    });
    assert.equal(result, 'passed');
  });
});
