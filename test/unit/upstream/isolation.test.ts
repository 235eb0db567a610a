// One connection of an upstream that delivers unasked bytes isolates all its targets, in both modes, for ten minutes from the last such
// event; a reload changes nothing about that, and other upstreams are left alone.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createPools } from '../../../gateway/upstream/targets/pools.ts';
import { TargetSets, type UnrequestedBytes } from '../../../gateway/upstream/targets/target-set.ts';
import { Targets } from '../../../gateway/upstream/targets/targets.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { send } from '../http1/client/handler.ts';
import { answer, counted, type Peer, startPeer } from '../http1/client/peer.ts';

const start = closesAfterEach();
const MINUTE_MS = 60_000;

async function createScene() {
  const peers = {
    one: await start(startPeer()),
    other: await start(startPeer()),
    test: await start(startPeer()),
    neighbour: await start(startPeer()),
  };
  for (const peer of Object.values(peers)) peer.plays(answer);
  let nowMs = 1_000_000;
  const clock = () => nowMs;
  const reports: UnrequestedBytes[] = [];
  let onReport = () => {};
  const pools = createPools();
  const nothing = () => undefined;
  const targetSets = new TargetSets({
    pools,
    originOf: (address) => address,
    clock,
    now: clock,
    onTarget: nothing,
    onBreaker: nothing,
    onCheck: nothing,
    onUnrequestedBytes(bytes) {
      reports.push(bytes);
      onReport();
    },
  });
  const rules = {
    connections: 2,
    connectTimeoutMs: 5000,
    connectionMaxAgeSeconds: 60,
    ejection: 'off',
    breaker: 'off',
  } as const;
  const configure = (connections = 2) =>
    new Targets({
      upstreams: {
        things: {
          ...{ ...rules, connections },
          live: [peers.one.origin, peers.other.origin],
          test: [peers.test.origin],
        },
        neighbours: { ...rules, live: [peers.neighbour.origin] },
      },
      tlsOf: nothing,
      pools,
      targetSets,
      originOf: (address) => address,
      clock,
    });
  let targets = configure();
  await start({ close: () => targets.close() });

  async function ask(upstream = 'things', mode: 'live' | 'test' = 'live'): Promise<void> {
    const target = targets.pick(upstream, mode);
    assert.equal((await send(target.pool.dispatcher, { path: '/own' }).over).body, '/own');
    targets.noteResult(target, 'answered', nowMs);
  }

  return {
    peers,
    reports,
    targetSets,
    ask,
    /** Until a connection of this target has been reported. */
    async forge(peer: Peer): Promise<void> {
      const reported = new Promise<void>((resolve) => {
        onReport = resolve;
      });
      peer.sockets.at(-1)?.write(counted('forged'));
      await reported;
    },
    /** Connections that four requests take. */
    async taken(peersOfIt: readonly Peer[], upstream?: string, mode?: 'live' | 'test'): Promise<number> {
      const count = () => peersOfIt.reduce((sum, { sockets }) => sum + sockets.length, 0);
      const before = count();
      for (let i = 0; i < 4; i++) await ask(upstream, mode);
      return count() - before;
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
    async reload(connections?: number): Promise<void> {
      const former = targets;
      targets = configure(connections);
      await former.close();
    },
  };
}

it('unasked bytes of one target isolate all of its upstream for ten minutes, and no other upstream', async () => {
  const { peers, reports, targetSets, taken, forge, pass } = await createScene();
  const live = [peers.one, peers.other];
  assert.equal(await taken(live), 2);
  await forge(peers.one);
  assert.deepEqual(reports, [{ upstream: 'things', isFirst: true, isolatedUntil: '1970-01-01T00:26:40.000Z' }]);
  assert.equal(targetSets.status().things?.isolated_until, '1970-01-01T00:26:40.000Z');
  assert.equal(targetSets.status().neighbours?.isolated_until, null);
  for (const afterMs of [0, 5 * MINUTE_MS, 5 * MINUTE_MS - 1]) {
    pass(afterMs);
    assert.equal(targetSets.isIsolated('things'), true);
    assert.equal(await taken(live), 4, `a connection for each request, ${afterMs} ms later`);
    assert.equal(await taken([peers.test], 'things', 'test'), 4);
  }
  assert.equal(await taken([peers.neighbour], 'neighbours'), 1);
  pass(1);
  assert.equal(targetSets.isIsolated('things'), false);
  assert.equal(targetSets.status().things?.isolated_until, null);
  assert.equal(await taken(live), 2, 'connections are kept again');
  assert.equal(await taken([peers.test], 'things', 'test'), 1);
});

it('each such event counts, and begins the ten minutes again', async () => {
  const { peers, reports, targetSets, taken, ask, forge, pass } = await createScene();
  await taken([peers.one, peers.other]);
  await forge(peers.one);
  pass(9 * MINUTE_MS);
  for (const peer of [peers.one, peers.other])
    peer.plays(({ socket }) => socket.write(counted('/own') + counted('surplus')));
  await ask();
  for (const peer of [peers.one, peers.other]) peer.plays(answer);
  assert.deepEqual(
    reports.map(({ isFirst }) => isFirst),
    [true, false],
  );
  pass(9 * MINUTE_MS);
  assert.equal(targetSets.isIsolated('things'), true);
  assert.equal(await taken([peers.one, peers.other]), 4);
});

it('a reload changes nothing about it, with other settings either', async () => {
  const { peers, targetSets, taken, forge, pass, reload } = await createScene();
  await taken([peers.one, peers.other]);
  await forge(peers.other);
  for (const connections of [2, 3]) {
    await reload(connections);
    assert.equal(targetSets.isIsolated('things'), true);
    assert.equal(await taken([peers.one, peers.other]), 4);
  }
  pass(10 * MINUTE_MS);
  assert.equal(await taken([peers.one, peers.other]), 2);
});
