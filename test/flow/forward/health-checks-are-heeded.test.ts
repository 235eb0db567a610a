// Targets are checked: one that fails its check gets nothing while another is there, and comes back when it succeeds.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closesAfterEach } from '../../support/closing.ts';
import { httpAnswer, type ScriptedUpstream } from '../../support/scripted-upstream.ts';
import { createSeveralTargets, type SeveralTargets } from './several-targets.ts';

const start = closesAfterEach();
/** A check has so much time that a slow answer on a busy machine is no failure. */
const health = { path: '/healthz', intervalMs: 100, timeoutMs: 60_000, healthyAfter: 1, unhealthyAfter: 2 };

/** Requests are answered independent of health checks. */
function saysOfItself(upstream: ScriptedUpstream | undefined, status: number | 'nothing'): void {
  upstream?.plays((socket, request) => {
    if (!request.startsWith('GET /healthz ')) socket.write(httpAnswer(200, '{}'));
    else if (status !== 'nothing') socket.write(httpAnswer(status, ''));
  });
}

async function untilStates({ status }: SeveralTargets, ...states: string[]): Promise<void> {
  for (;;) {
    const { targets } = await status();
    if (targets.map(({ state }) => state).join() === states.join()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('health checks', () => {
  it('take a target out and bring it back', async () => {
    const scene = await start(createSeveralTargets(2, { health, ejection: { slowStartSeconds: 0 } }));
    const { upstreams, calls, counts, status } = scene;
    await untilStates(scene, 'healthy', 'healthy');
    saysOfItself(upstreams[0], 500);
    await untilStates(scene, 'unhealthy', 'healthy');
    const before = counts();
    assert.deepEqual(await calls(6), [200, 200, 200, 200, 200, 200]);
    assert.equal(counts()[0], before[0]);
    const [ill, well] = (await status()).targets;
    assert.deepEqual([ill?.last_check?.result, ill?.last_check?.status], ['failed', 500]);
    assert.deepEqual([well?.last_check?.result, well?.last_check?.status], ['passed', 200]);
    const metrics = await scene.metrics();
    assert.match(
      metrics,
      /^gateway_upstream_health_checks_total\{upstream="things",mode="live",result="passed"\} [1-9]/m,
    );
    assert.match(
      metrics,
      /^gateway_upstream_health_checks_total\{upstream="things",mode="live",result="failed"\} [1-9]/m,
    );
    saysOfItself(upstreams[0], 204);
    await untilStates(scene, 'healthy', 'healthy');
    await calls(6);
    assert.ok((counts()[0] as number) >= (before[0] as number) + 2);
  });

  it('without an answer fail; when all targets fail, all are tried', async () => {
    const scene = await start(createSeveralTargets(2, { health: { ...health, timeoutMs: 80 } }));
    for (const upstream of scene.upstreams) saysOfItself(upstream, 'nothing');
    await untilStates(scene, 'unhealthy', 'unhealthy');
    const before = scene.counts();
    assert.deepEqual(await scene.calls(4), [200, 200, 200, 200]);
    assert.deepEqual(
      scene.counts(),
      before.map((count) => count + 2),
    );
  });

  it('expect the status that is named', async () => {
    const scene = await start(createSeveralTargets(2, { health: { ...health, status: 204 } }));
    saysOfItself(scene.upstreams[1], 204);
    await untilStates(scene, 'unhealthy', 'healthy');
  });

  it('end with the gateway, also in the middle of one', async () => {
    const scene = await createSeveralTargets(1, { health });
    saysOfItself(scene.upstreams[0], 'nothing');
    const asked = () => scene.upstreams[0]?.received.filter((text) => text.startsWith('GET /healthz')).length;
    while (asked() === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await scene.close();
    const last = asked();
    await new Promise((resolve) => setTimeout(resolve, 250));
    assert.equal(asked(), last);
  });
});
