import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { GatewayError } from '../../../gateway/errors.ts';
import { type AddressLimitRules, createAddressLimits } from '../../../gateway/limits/address-limit.ts';
import { admitted } from './parties.ts';

const asking = (address: string) => admitted(address);
const GUESS = 'Basic Z3Vlc3M=';

const rules: AddressLimitRules = {
  ...{ requests: 3, windowSeconds: 60, connections: 2, connectionsTotal: 3 },
  ...{ failures: 50, failuresWindowSeconds: 86_400 },
};

function setUp(changed: Partial<AddressLimitRules> = {}) {
  let nowMs = 1_795_190_400_000;
  const addressLimitOf = createAddressLimits({ now: () => nowMs });
  const door = addressLimitOf('door', { ...rules, ...changed });
  return {
    door,
    advance(ms: number) {
      nowMs += ms;
    },
    enter: (address: string) => door.enter(asking(address), undefined),
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

test('so many are inside at once, of one address and of all, until they leave', () => {
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

test('doors that share the name for logins count failed logins together', async () => {
  const addressLimitOf = createAddressLimits({ now: () => 0 });
  const guess = asking('192.0.2.1');
  const few = { ...rules, failures: 2 };
  addressLimitOf('one', few, 'users').answered(guess, GUESS, 401);
  addressLimitOf('two', few, 'users').answered(guess, GUESS, 401);
  await turn();
  for (const name of ['one', 'two'])
    assert.throws(() => addressLimitOf(name, few, 'users').enter(guess, GUESS), { code: 'auth_attempts_limited' });
  addressLimitOf('other', few).enter(guess, GUESS)();
});

test('a door of the same name keeps its counts when the rules change', () => {
  const addressLimitOf = createAddressLimits({ now: () => 0 });
  addressLimitOf('one', rules).enter(asking('192.0.2.1'), undefined);
  const again = addressLimitOf('one', { ...rules, connections: 1 });
  assert.throws(() => again.enter(asking('192.0.2.1'), undefined), refusedWith('rate_limited', 5));
  addressLimitOf('other', { ...rules, connections: 1 }).enter(asking('192.0.2.1'), undefined);
});
