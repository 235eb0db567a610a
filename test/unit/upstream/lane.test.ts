import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { afterEach, test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../../gateway/errors.ts';
import { createLane } from '../../../gateway/upstream/lane.ts';

const MINUTE = 60_000;

/** Whoever still waits at the end of a test leaves then, so that no timer outlives it. */
let staying = new AbortController();
afterEach(() => {
  staying.abort();
  staying = new AbortController();
});

function setUp(places = 1, waitingMax = 100) {
  let number = places;
  const lane = createLane({ places: () => number, waitingMax });
  return {
    ...lane,
    setPlaces(next: number) {
      number = next;
    },
    enterNow(withinMs = MINUTE) {
      const entering = lane.enter(withinMs, staying.signal);
      entering.catch(() => undefined);
      return entering;
    },
  };
}

/** What has become of a promise by now. */
async function stateOf(promise: Promise<unknown>): Promise<'waiting' | 'in' | 'refused'> {
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([
    promise.then(
      () => 'in' as const,
      () => 'refused' as const,
    ),
    Promise.resolve().then(() => Promise.resolve().then(() => 'waiting' as const)),
  ]);
}

const isOverloaded = (thrown: unknown) => {
  assert.ok(thrown instanceof GatewayError);
  assert.equal(thrown.code, 'upstream_overloaded');
  assert.deepEqual(thrown.details.headers, { 'Proxy-Status': 'api-gateway; error=connection_limit_reached' });
  return true;
};

test('as many are let in at once as there are places; the next one when one of them leaves', async () => {
  const lane = setUp(2);
  const [leave] = await Promise.all([lane.enterNow(), lane.enterNow()]);
  const third = lane.enterNow();
  assert.equal(await stateOf(third), 'waiting');
  assert.deepEqual([lane.inFlight(), lane.waiting()], [2, 1]);
  leave?.();
  assert.equal(await stateOf(third), 'in');
  assert.deepEqual([lane.inFlight(), lane.waiting()], [2, 0]);
});

test('whoever came first is let in first, and nobody who comes later passes those who wait', async () => {
  const lane = setUp();
  const order: string[] = [];
  const enter = (name: string) =>
    lane.enterNow().then((leave) => {
      order.push(name);
      return leave;
    });
  const first = await enter('first');
  const others = ['second', 'third', 'fourth'].map(enter);
  first();
  const late = enter('late');
  for (const next of [...others, late]) (await next)();
  assert.deepEqual(order, ['first', 'second', 'third', 'fourth', 'late']);
  assert.equal(lane.inFlight(), 0);
});

test('a place that is given back twice is one place', async () => {
  const lane = setUp(1);
  const leave = await lane.enterNow();
  const [second, third] = [lane.enterNow(), lane.enterNow()];
  leave();
  leave();
  assert.deepEqual([await stateOf(second), await stateOf(third)], ['in', 'waiting']);
  assert.equal(lane.inFlight(), 1);
});

test('places that became fewer are respected as those inside leave', async () => {
  const lane = setUp(3);
  const inside = await Promise.all([lane.enterNow(), lane.enterNow(), lane.enterNow()]);
  lane.setPlaces(1);
  const waiting = lane.enterNow();
  inside[0]?.();
  inside[1]?.();
  assert.equal(await stateOf(waiting), 'waiting');
  inside[2]?.();
  assert.equal(await stateOf(waiting), 'in');
});

test('places that became more belong to those who wait, all at the next coming or going', async () => {
  const lane = setUp(1);
  await lane.enterNow();
  const [second, third] = [lane.enterNow(), lane.enterNow()];
  lane.setPlaces(3);
  const late = lane.enterNow();
  assert.deepEqual(await Promise.all([second, third, late].map(stateOf)), ['in', 'in', 'waiting']);
});

test('the deadline ends the waiting, and takes no place from the others', async () => {
  const lane = setUp();
  const leave = await lane.enterNow();
  const [short, long] = [lane.enterNow(5), lane.enterNow()];
  await assert.rejects(short, isOverloaded);
  assert.deepEqual([await stateOf(long), lane.waiting()], ['waiting', 1]);
  leave();
  assert.equal(await stateOf(long), 'in');
});

test('without any time left nobody waits, but a place that is free is taken', async () => {
  const lane = setUp();
  await lane.enterNow(0);
  const late = lane.enterNow(0);
  assert.equal(lane.waiting(), 0);
  await assert.rejects(late, isOverloaded);
  assert.equal(lane.inFlight(), 1);
});

test('more than may wait are refused at once', async () => {
  const lane = setUp(1, 2);
  const leave = await lane.enterNow();
  const [second, third] = [lane.enterNow(), lane.enterNow()];
  await assert.rejects(lane.enterNow(), isOverloaded);
  leave();
  assert.deepEqual([await stateOf(second), await stateOf(third)], ['in', 'waiting']);
  assert.equal(await stateOf(lane.enterNow()), 'waiting');
});

test('a client that leaves while it waits is taken out of the line, and hears its own reason', async () => {
  const lane = setUp();
  const leave = await lane.enterNow();
  const gone = new AbortController();
  const left = lane.enter(MINUTE, gone.signal);
  const next = lane.enterNow();
  const reason = new Error('left');
  gone.abort(reason);
  await assert.rejects(left, reason);
  assert.equal(lane.waiting(), 1);
  leave();
  assert.equal(await stateOf(next), 'in');
});

test('a client that has left before takes no place', async () => {
  const lane = setUp();
  const reason = new Error('left');
  await assert.rejects(lane.enter(MINUTE, AbortSignal.abort(reason)), reason);
  assert.deepEqual([lane.inFlight(), lane.waiting()], [0, 0]);
});

test('a client that leaves after it was let in keeps its place until that is given back', async () => {
  const lane = setUp();
  const leave = await lane.enterNow();
  const gone = new AbortController();
  const entered = lane.enter(MINUTE, gone.signal);
  leave();
  gone.abort();
  (await entered)();
  assert.equal(lane.inFlight(), 0);
});

test('no timer and no listener is left behind, however the waiting ended', async (t) => {
  const timers = new Set<NodeJS.Timeout>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  t.mock.method(globalThis, 'setTimeout', (work: () => void, ms: number) => {
    const timer = set(() => {
      timers.delete(timer);
      work();
    }, ms);
    timers.add(timer);
    return timer;
  });
  t.mock.method(globalThis, 'clearTimeout', (timer: NodeJS.Timeout) => {
    timers.delete(timer);
    clear(timer);
  });
  const lane = setUp();
  const gone = new AbortController();
  const leave = await lane.enter(MINUTE, gone.signal);
  assert.equal(timers.size, 0, 'whoever does not wait needs none');
  const entered = lane.enter(MINUTE, gone.signal);
  const late = lane.enter(5, gone.signal);
  assert.equal(timers.size, 2);
  await assert.rejects(late);
  leave();
  await entered;
  assert.deepEqual([timers.size, getEventListeners(gone.signal, 'abort').length], [0, 0]);
  const left = lane.enter(MINUTE, gone.signal);
  gone.abort();
  await assert.rejects(left);
  assert.deepEqual([timers.size, getEventListeners(gone.signal, 'abort').length], [0, 0]);
});

test('whoever comes and goes in whatever order: never more than there are places, in order, and nobody is lost', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant('enter' as const) },
    { weight: 3, arbitrary: fc.constant('leave' as const) },
    { weight: 1, arbitrary: fc.constant('abort' as const) },
    { weight: 1, arbitrary: fc.record({ places: fc.integer({ min: 1, max: 5 }) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      let places = 2;
      const lane = createLane({ places: () => places, waitingMax: 1000 });
      const line: { readonly id: number; readonly gone: AbortController }[] = [];
      const inside: (() => void)[] = [];
      const letIn: number[] = [];
      const settled: Promise<void>[] = [];
      let entered = 0;
      let aborted = 0;

      const takeOut = (id: number) => {
        const at = line.findIndex((one) => one.id === id);
        line.splice(at, 1);
        return at;
      };
      const enter = () => {
        const id = entered++;
        const gone = new AbortController();
        line.push({ id, gone });
        const entering = lane.enter(MINUTE, gone.signal).then(
          (leave) => {
            assert.equal(takeOut(id), 0, 'the first of those who still wait');
            letIn.push(id);
            inside.push(leave);
          },
          () => {
            takeOut(id);
            aborted += 1;
          },
        );
        settled.push(entering);
      };
      for (const one of steps) {
        const before = lane.inFlight();
        if (typeof one === 'object') places = one.places;
        else if (one === 'enter') enter();
        else if (one === 'leave') inside.shift()?.();
        else line.at(-1)?.gone.abort();
        assert.ok(lane.inFlight() <= Math.max(places, before), 'nobody is let in beyond the places');
        await new Promise((resolve) => setImmediate(resolve));
        assert.deepEqual([lane.inFlight(), lane.waiting()], [inside.length, line.length]);
      }
      while (inside.length > 0 || line.length > 0) {
        inside.shift()?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(settled);
      assert.equal(letIn.length + aborted, entered);
      assert.deepEqual(
        letIn,
        letIn.toSorted((a, b) => a - b),
      );
      assert.deepEqual([lane.inFlight(), lane.waiting()], [0, 0]);
    }),
    { numRuns: 50 },
  );
});
