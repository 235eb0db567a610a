// Which request gets a place at an upstream, which waits for one, and which is refused. Clocks are real where the test is about a deadline.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { ConcurrencyLimit, type ConcurrencyRules } from '../../../gateway/upstream/concurrency/concurrency-limit.ts';
import type { UpstreamLoad } from '../../../gateway/upstream/concurrency/fair-queue.ts';

const MINUTE = 60_000;

/** A client that may leave. */
class Client extends EventEmitter {
  destroyed = false;
  leave(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

/** Requests that still wait at the end of a test leave then. */
let staying: Client[] = [];
afterEach(() => {
  for (const client of staying) client.leave();
  staying = [];
});

type Entered = 'waiting' | 'in' | 'refused' | 'left';

interface Guest {
  readonly client: Client;
  readonly done: Promise<UpstreamLoad | undefined>;
  state: Entered;
  error: unknown;
  leave(): void;
}

/** Undefined: its client has left. */
function waiting(
  concurrency: ConcurrencyLimit,
  organization: string,
  withinMs: number,
  client: Client,
): Promise<UpstreamLoad | undefined> {
  return new Promise((resolve, reject) => {
    const waiter = concurrency.wait(organization, withinMs, { gotPlace: resolve, refused: reject });
    client.once('close', () => {
      concurrency.leaveQueue(waiter);
      resolve(undefined);
    });
  });
}

function setUp(places = 1, rules: Partial<ConcurrencyRules> = {}) {
  let number = places;
  const waited: number[] = [];
  const shed: string[] = [];
  const concurrency = new ConcurrencyLimit({
    places: () => number,
    rules: () => ({ queuedMax: 100, queueMs: undefined, organizationShare: 0.5, ...rules }),
    onWaited: (ms) => waited.push(ms),
    onShed: (why) => shed.push(why),
  });
  return {
    concurrency,
    waited,
    shed,
    setPlaces(next: number) {
      number = next;
    },
    come(organization = 'one', withinMs = MINUTE): Guest {
      const client = new Client();
      staying.push(client);
      const place = concurrency.take(organization);
      const done = place ? Promise.resolve(place) : waiting(concurrency, organization, withinMs, client);
      const guest: Guest = {
        client,
        done,
        state: place ? 'in' : 'waiting',
        error: undefined,
        leave: () => void done.then((share) => concurrency.giveBack(share as UpstreamLoad)),
      };
      done.then(
        (share) => {
          guest.state = share ? 'in' : 'left';
        },
        (error) => {
          guest.state = 'refused';
          guest.error = error;
        },
      );
      return guest;
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** The present state of the requests. */
async function statesOf(...guests: readonly Guest[]): Promise<Entered[]> {
  await settled();
  return guests.map(({ state }) => state);
}

function assertOverloaded({ error }: Guest, retryAfterSeconds?: number): void {
  assert.ok(error instanceof GatewayError);
  assert.equal(error.code, 'upstream_overloaded');
  assert.deepEqual(error.details.headers, { 'Proxy-Status': 'api-gateway; error=connection_limit_reached' });
  assert.equal(error.details.retryAfterSeconds, retryAfterSeconds);
}

test('as many are let in at once as there are places; the next one when one of them leaves', async () => {
  const { concurrency, come } = setUp(2);
  const [first, second, third] = [come(), come(), come()];
  assert.deepEqual(await statesOf(first, second, third), ['in', 'in', 'waiting']);
  assert.deepEqual([concurrency.inFlight(), concurrency.waiting()], [2, 1]);
  first.leave();
  assert.deepEqual(await statesOf(third), ['in']);
  assert.deepEqual([concurrency.inFlight(), concurrency.waiting()], [2, 0]);
});

test('within one organization requests are admitted in the order of their arrival, and later ones pass no waiting one', async () => {
  const { come } = setUp();
  const guests = [come(), come(), come()];
  guests[0]?.leave();
  await settled();
  const late = come();
  for (const [index, guest] of guests.slice(1).entries()) {
    assert.deepEqual(await statesOf(...guests.slice(index + 2), late), [
      ...guests.slice(index + 2).map(() => 'waiting' as const),
      'waiting',
    ]);
    guest.leave();
  }
  assert.deepEqual(await statesOf(late), ['in']);
});

test('organizations are served in turn, however many of one wait', async () => {
  const { come } = setUp();
  const inside = come('busy');
  const busy = Array.from({ length: 20 }, () => come('busy'));
  const [quiet, other] = [come('quiet'), come('other')];
  const order: string[] = [];
  for (const [name, guest] of [
    ['busy', busy[0]],
    ['quiet', quiet],
    ['other', other],
    ['busy', busy[1]],
  ] as const) {
    void guest?.done.then(() => {
      order.push(name);
      guest.leave();
    });
  }
  inside.leave();
  await quiet.done;
  await busy[1]?.done;
  assert.deepEqual(order, ['busy', 'quiet', 'other', 'busy']);
});

test('an organization that is alone has all places; while others wait, none beyond its share', async () => {
  const { come } = setUp(4);
  const busy = Array.from({ length: 8 }, () => come('busy'));
  assert.deepEqual(await statesOf(...busy.slice(0, 5)), ['in', 'in', 'in', 'in', 'waiting']);
  const quiet = Array.from({ length: 3 }, () => come('quiet'));
  busy[0]?.leave();
  busy[1]?.leave();
  assert.deepEqual(await statesOf(...quiet, busy[4] as Guest), ['in', 'in', 'waiting', 'waiting']);
  busy[2]?.leave();
  // Both have their share now, and the place is not left empty for it: it is one below the share that gets it.
  assert.deepEqual(await statesOf(quiet[2] as Guest, busy[4] as Guest), ['waiting', 'in']);
  for (const guest of quiet) guest.client.leave();
  quiet[0]?.leave();
  assert.deepEqual(await statesOf(busy[5] as Guest), ['in']);
});

test('an organization that waits alone gets every place that becomes free, beyond the share too', async () => {
  const { come } = setUp(4);
  const guests = Array.from({ length: 6 }, () => come('busy'));
  guests[0]?.leave();
  guests[1]?.leave();
  assert.deepEqual(await statesOf(guests[4] as Guest, guests[5] as Guest), ['in', 'in']);
});

test('places that became fewer are respected as those inside leave', async () => {
  const { come, setPlaces } = setUp(3);
  const inside = [come(), come(), come()];
  setPlaces(1);
  const waiting = come();
  inside[0]?.leave();
  inside[1]?.leave();
  assert.deepEqual(await statesOf(waiting), ['waiting']);
  inside[2]?.leave();
  assert.deepEqual(await statesOf(waiting), ['in']);
});

test('added places belong to the waiting requests, all at the next coming or going', async () => {
  const { come, setPlaces } = setUp();
  come();
  const [second, third] = [come(), come()];
  setPlaces(3);
  const late = come();
  assert.deepEqual(await statesOf(second, third, late), ['in', 'in', 'waiting']);
});

test('the deadline ends the waiting, and takes no place from the others', async () => {
  const { concurrency, come, shed } = setUp();
  const inside = come();
  const [long, short] = [come(), come('one', 5)];
  await assert.rejects(Promise.all([short.done, sleep(100)]));
  assertOverloaded(short);
  assert.deepEqual([await statesOf(long), concurrency.waiting(), shed], [['waiting'], 1, ['upstream_wait']]);
  inside.leave();
  assert.deepEqual(await statesOf(long), ['in']);
});

test('deadlines are kept one after the other', async () => {
  const { come } = setUp();
  come();
  const guests = [come('one', 30), come('two', 5), come('one', 15)];
  const outcomes = await Promise.all([...guests.map(({ done }) => done.catch(() => 'refused')), sleep(50)]);
  assert.deepEqual(outcomes.slice(0, 3), ['refused', 'refused', 'refused']);
});

test('over the bound of waiting requests, the newest of the organization with the most is refused at once', async () => {
  const { concurrency, come, shed } = setUp(1, { queuedMax: 2 });
  const inside = come();
  const [second, third, fourth] = [come(), come(), come()];
  assert.deepEqual(await statesOf(second, third, fourth), ['waiting', 'waiting', 'refused']);
  assertOverloaded(fourth);
  const other = come('other');
  assert.deepEqual(await statesOf(second, third, other), ['waiting', 'refused', 'waiting']);
  assert.deepEqual(shed, ['upstream_queue', 'upstream_queue']);
  inside.leave();
  assert.deepEqual(await statesOf(second), ['in']);
  assert.equal(concurrency.waiting(), 1);
});

test('a request takes a free place even if no request may wait', async () => {
  const { come } = setUp(1, { queuedMax: 0 });
  const [first, second] = [come(), come()];
  assert.deepEqual(await statesOf(first, second), ['in', 'refused']);
});

test('a client that leaves while it waits is taken out of the line', async () => {
  const { concurrency, come, shed } = setUp();
  const inside = come();
  const [left, next] = [come(), come()];
  left.client.leave();
  assert.deepEqual(await statesOf(left), ['left']);
  assert.deepEqual([concurrency.waiting(), shed], [1, []]);
  inside.leave();
  assert.deepEqual(await statesOf(next), ['in']);
});

test('a client that leaves after it was let in keeps its place until that is given back', async () => {
  const { concurrency, come } = setUp();
  const [inside, next] = [come(), come()];
  inside.leave();
  await next.done;
  next.client.leave();
  assert.equal(concurrency.inFlight(), 1);
  next.leave();
  await settled();
  assert.equal(concurrency.inFlight(), 0);
});

test('each waiting request reports its wait, for every end of it, and admitted ones are counted', async () => {
  const { come, waited } = setUp(1, { queuedMax: 2 });
  const inside = come();
  const guests = [come(), come('one', 5), come()];
  await assert.rejects(Promise.all([guests[1]?.done, sleep(100)]));
  inside.leave();
  assert.deepEqual(await statesOf(...guests), ['in', 'refused', 'refused']);
  assert.equal(waited.length, 1);
  assert.ok((waited[0] as number) >= 4, `${waited[0]} ms`);
});

test('a queue that does not move is kept to the length that a moment works off, and refusals name when to come again', async (t) => {
  let now = 1000;
  t.mock.method(performance, 'now', () => now);
  const { come, shed, concurrency } = setUp(1, { queueMs: 200 });
  let inside = come('busy');
  const busy = Array.from({ length: 60 }, () => come('busy'));
  // One every 10 ms for longer than a burst.
  for (let served = 0; served < 51; served += 1) {
    now += 10;
    inside.leave();
    inside = busy[served] as Guest;
    await inside.done;
    if (served < 40) busy.push(come('busy'));
  }
  const quiet = come('quiet');
  await settled();
  assert.equal(concurrency.waiting(), 20, '20 at 100 a second are 200 ms');
  assert.equal(quiet.state, 'waiting');
  assert.deepEqual(new Set(shed), new Set(['upstream_queue']));
  const refused = busy.filter(({ state }) => state === 'refused');
  assert.equal(refused.length + 20 + 51, busy.length + 1);
  assertOverloaded(refused.at(-1) as Guest, 1);
});

test('with very many organizations, those that have nothing here are forgotten and the others are not', async () => {
  const { concurrency } = setUp(10);
  const kept = concurrency.take('kept') as UpstreamLoad;
  for (let index = 0; index < 10_000; index += 1)
    concurrency.giveBack(concurrency.take(`org_${index}`) as UpstreamLoad);
  const again = concurrency.take('kept') as UpstreamLoad;
  assert.equal(again, kept);
  assert.equal(again.inFlight, 2);
});

test('for any sequence of arrivals and departures: never more than there are places, no request is lost, and in order within an organization', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ enter: fc.constantFrom('one', 'two', 'three') }) },
    { weight: 3, arbitrary: fc.constant('leave' as const) },
    { weight: 1, arbitrary: fc.constant('abort' as const) },
    { weight: 1, arbitrary: fc.record({ places: fc.integer({ min: 1, max: 5 }) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const { concurrency, come, setPlaces } = setUp(2, { queuedMax: 20 });
      const guests: (Guest & { organization: string })[] = [];
      const gone = new Set<Guest>();
      const those = (state: Entered) => guests.filter((guest) => guest.state === state && !gone.has(guest));
      let places = 2;
      for (const one of steps) {
        const before = concurrency.inFlight();
        if (one === 'leave') {
          const [guest] = those('in');
          if (guest) gone.add(guest);
          guest?.leave();
        } else if (one === 'abort') those('waiting').at(-1)?.client.leave();
        else if ('places' in one) {
          places = one.places;
          setPlaces(places);
        } else guests.push(Object.assign(come(one.enter), { organization: one.enter }));
        await settled();
        assert.ok(concurrency.inFlight() <= Math.max(places, before), 'no request is admitted beyond the places');
        assert.deepEqual(
          [concurrency.inFlight(), concurrency.waiting()],
          [those('in').length, those('waiting').length],
        );
        for (const name of ['one', 'two', 'three']) {
          const own = guests.filter(({ organization, state }) => organization === name && /^(in|waiting)$/.test(state));
          const firstWaiting = own.findIndex(({ state }) => state === 'waiting');
          assert.ok(firstWaiting === -1 || own.slice(firstWaiting).every(({ state }) => state === 'waiting'));
        }
      }
      while (those('in').length > 0) {
        const [guest] = those('in');
        gone.add(guest as Guest);
        guest?.leave();
        await settled();
      }
      assert.deepEqual([concurrency.inFlight(), concurrency.waiting()], [0, 0]);
    }),
    { numRuns: 50 },
  );
});
