import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Admitted } from '../../../gateway/exchange/exchange.ts';
import {
  type AddressLimit,
  type AddressLimitRules,
  createAddressLimits,
  type Visit,
} from '../../../gateway/limits/addresses/address-limit.ts';
import { admitted } from './parties.ts';

const asking = (address: string) => admitted(address);
const GUESS = 'Basic Z3Vlc3M=';

const rules: AddressLimitRules = {
  ...{ requests: 3, windowSeconds: 60, connections: 2, connectionsTotal: 3 },
  ...{ failures: 50, failuresWindowSeconds: 86_400 },
};

/** Without a login nothing waits. */
function enter(door: AddressLimit, address: string): () => void {
  return (door.enter(asking(address), undefined) as Visit).leave;
}

function limitsOf(named: Readonly<Record<string, AddressLimitRules>>, now = () => 0): [AddressLimit, AddressLimit] {
  const limits = createAddressLimits({ now });
  limits.apply(Object.entries(named));
  return Object.keys(named).map((name) => limits.limitOf(name)) as [AddressLimit, AddressLimit];
}

function setUp(changed: Partial<AddressLimitRules> = {}) {
  let nowMs = 1_795_190_400_000;
  const [door] = limitsOf({ door: { ...rules, ...changed } }, () => nowMs);
  return {
    door,
    advance(ms: number) {
      nowMs += ms;
    },
    enter: (address: string) => enter(door, address),
  };
}

const refusedWith = (code: string, retryAfterSeconds?: number) => (error: unknown) =>
  error instanceof GatewayError && error.code === code && error.details.retryAfterSeconds === retryAfterSeconds;

test('an address has its requests in any span as long as the window', () => {
  const { enter, advance } = setUp();
  enter('192.0.2.1')();
  advance(40_000);
  enter('192.0.2.1')();
  enter('192.0.2.1')();
  assert.throws(() => enter('192.0.2.1'), refusedWith('rate_limited', 20));
  enter('192.0.2.2')();
  advance(20_000);
  enter('192.0.2.1')();
  assert.throws(() => enter('192.0.2.1'), refusedWith('rate_limited', 40));
});

test('an address of version 6 is its whole network', () => {
  const { enter } = setUp({ requests: 1 });
  enter('2001:db8::1')();
  assert.throws(() => enter('2001:db8::2'), refusedWith('rate_limited', 60));
});

test('a bounded number of requests is in progress, of one address and of all, until they leave', () => {
  const { door, enter } = setUp();
  const leave = enter('192.0.2.1');
  enter('192.0.2.1');
  assert.throws(() => enter('192.0.2.1'), refusedWith('rate_limited', 5));
  enter('192.0.2.2');
  assert.throws(() => enter('192.0.2.3'), refusedWith('gateway_overloaded'));
  assert.equal(door.inProgress(), 3);
  leave();
  assert.equal(door.inProgress(), 2);
  enter('192.0.2.3');
});

test('a refused address is not counted', () => {
  const { enter } = setUp({ requests: 2, connections: 1 });
  const leave = enter('192.0.2.1');
  for (let i = 0; i < 5; i++) assert.throws(() => enter('192.0.2.1'), refusedWith('rate_limited', 5));
  leave();
  enter('192.0.2.1')();
});

test('one name is one limit: requests, connections and failed logins count together', async () => {
  const guess = { ...asking('192.0.2.1'), request: { socket: { destroyed: false } } } as Admitted;
  const few = { ...rules, failures: 2 };
  const [users, other] = limitsOf({ users: few, other: few });
  for (let i = 0; i < 2; i++) {
    const visit = await users.enter(guess, GUESS);
    visit.answered(401);
    visit.leave();
  }
  await turn();
  assert.throws(() => users.enter(guess, GUESS), { code: 'auth_attempts_limited' });
  enter(users, '192.0.2.1');
  assert.throws(() => enter(users, '192.0.2.1'), refusedWith('rate_limited', 60));
  (await other.enter(guess, GUESS)).leave();
});

test('a login that waits is inside, and leaves if it is refused', async () => {
  const guess = { ...asking('192.0.2.1'), request: { socket: { destroyed: false } } } as Admitted;
  const [door] = limitsOf({ one: { ...rules, failures: 1 } });
  const first = await door.enter(guess, GUESS);
  const second = door.enter(guess, GUESS);
  assert.equal(door.inProgress(), 2);
  assert.throws(() => door.enter(guess, GUESS), refusedWith('rate_limited', 5));
  first.answered(401);
  first.leave();
  await assert.rejects(async () => second, { code: 'auth_attempts_limited' });
  assert.equal(door.inProgress(), 0);
});

test('a door of the same name keeps its counts when the rules change', () => {
  const limits = createAddressLimits({ now: () => 0 });
  limits.apply([['one', rules]]);
  enter(limits.limitOf('one'), '192.0.2.1');
  const fewer = { ...rules, connections: 1 };
  limits.apply(['one', 'other'].map((name) => [name, fewer]));
  assert.throws(() => enter(limits.limitOf('one'), '192.0.2.1'), refusedWith('rate_limited', 5));
  enter(limits.limitOf('other'), '192.0.2.1');
});

test('a limit that has no rules any more keeps its own: requests of the earlier configuration may be in progress', () => {
  const limits = createAddressLimits({ now: () => 0 });
  limits.apply([['gone', { ...rules, connections: 1 }]]);
  limits.apply([]);
  enter(limits.limitOf('gone'), '192.0.2.1');
  assert.throws(() => enter(limits.limitOf('gone'), '192.0.2.1'), refusedWith('rate_limited', 5));
});
