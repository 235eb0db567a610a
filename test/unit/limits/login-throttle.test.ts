import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { GatewayError } from '../../../gateway/errors.ts';
import type { Admitted } from '../../../gateway/exchange.ts';
import { createLoginThrottle } from '../../../gateway/limits/login-throttle.ts';

const DAY = 86_400;

function setUp(rules: { failures?: number; failuresTotal?: number } = {}) {
  let nowMs = 1_795_190_400_000;
  const attempts = createLoginThrottle(
    { failures: 10, failuresWindowSeconds: DAY, ...rules },
    { name: 'mail', now: () => nowMs },
  );
  const asking = (clientAddress: string) => ({ clientAddress }) as Admitted;
  return {
    attempts,
    advance(seconds: number) {
      nowMs += seconds * 1000;
    },
    async answered(status: number, address: string, credential?: string, times = 1) {
      for (let i = 0; i < times; i++) attempts.answered(asking(address), credential, status);
      await turn();
    },
    passes(address: string, credential?: string): boolean {
      try {
        attempts.admit(asking(address), credential);
        return true;
      } catch (error) {
        assert.ok(error instanceof GatewayError && error.code === 'auth_attempts_limited');
        return false;
      }
    },
  };
}

for (const status of [401, 402, 403, 429]) {
  test(`${status} to a login is a failure, and enough of them keep the address from logging in until the window ends`, async () => {
    const door = setUp();
    await door.answered(status, '192.0.2.1', 'Basic Z3Vlc3M=', 9);
    assert.ok(door.passes('192.0.2.1', 'Basic bmV3'));
    await door.answered(status, '192.0.2.1', 'Basic Z3Vlc3M=');
    assert.ok(!door.passes('192.0.2.1', 'Basic bmV3'));
    assert.ok(!door.passes('192.0.2.1', 'basic Z3Vlc3M='));
    assert.ok(door.passes('192.0.2.1'), 'nothing is guessed');
    assert.ok(door.passes('192.0.2.2', 'Basic bmV3'));
    door.advance(DAY);
    assert.ok(door.passes('192.0.2.1', 'Basic bmV3'));
  });
}

test('nothing else is a failure: nothing that can be guessed, unknown paths', async () => {
  const door = setUp({ failures: 1 });
  await door.answered(401, '192.0.2.1');
  await door.answered(404, '192.0.2.1', 'Basic Z3Vlc3M=');
  await door.answered(500, '192.0.2.1', 'Basic Z3Vlc3M=');
  assert.ok(door.passes('192.0.2.1', 'Basic bmV3'));
});

test('a credential that was accepted within the window passes, independent of its neighbours', async () => {
  const door = setUp();
  await door.answered(200, '192.0.2.1', 'Basic Z29vZA==');
  door.advance(DAY / 2);
  await door.answered(101, '192.0.2.1', 'Basic c29ja2V0');
  await door.answered(401, '192.0.2.1', 'Basic Z3Vlc3M=', 10);
  assert.ok(door.passes('192.0.2.1', 'Basic Z29vZA=='));
  assert.ok(door.passes('192.0.2.1', 'Basic c29ja2V0'));
  assert.ok(!door.passes('192.0.2.1', 'Basic b3RoZXI='));
  door.advance(DAY / 2);
  await door.answered(401, '192.0.2.1', 'Basic Z3Vlc3M=', 10);
  assert.ok(!door.passes('192.0.2.1', 'Basic Z29vZA=='));
  assert.ok(door.passes('192.0.2.1', 'Basic c29ja2V0'));
});

test('guesses that a page accepted first are of little use: each passes once, and a few close the address', async () => {
  const door = setUp({ failures: 20 });
  const guesses = Array.from({ length: 10 }, (_, index) => `Basic ${index}`);
  for (const guess of guesses) await door.answered(200, '192.0.2.1', guess);
  await door.answered(401, '192.0.2.1', 'Basic Z3Vlc3M=', 20);
  let tried = 0;
  for (const guess of guesses) {
    while (door.passes('192.0.2.1', guess)) {
      tried++;
      await door.answered(401, '192.0.2.1', guess);
    }
  }
  assert.equal(tried, 2);
});

test('failures of all addresses together can be bounded, and known credentials still pass', async () => {
  const door = setUp({ failures: 5, failuresTotal: 6 });
  await door.answered(200, '192.0.2.9', 'Basic Z29vZA==');
  await door.answered(401, '192.0.2.1', 'Basic Z3Vlc3M=', 3);
  await door.answered(401, '192.0.2.2', 'Basic Z3Vlc3M=', 2);
  assert.ok(door.passes('192.0.2.3'));
  await door.answered(401, '192.0.2.3', 'Basic Z3Vlc3M=');
  assert.ok(!door.passes('192.0.2.4', 'Basic bmV3'));
  assert.ok(door.passes('192.0.2.4', 'Basic Z29vZA=='));
});

test('the remembered credentials are bounded: the oldest is forgotten first', async () => {
  const door = setUp({ failures: 1 });
  for (let i = 0; i <= 10_000; i++) door.attempts.answered({ clientAddress: 'x' } as Admitted, `Basic ${i}`, 200);
  await door.answered(401, '192.0.2.1', 'Basic Z3Vlc3M=');
  assert.ok(!door.passes('192.0.2.1', 'Basic 0'));
  assert.ok(door.passes('192.0.2.1', 'Basic 1'));
});

test('new rules hold for windows that begin', async () => {
  const door = setUp({ failures: 5 });
  door.attempts.useRules({ failures: 1, failuresWindowSeconds: 60, failuresTotal: undefined });
  await door.answered(401, '192.0.2.1', 'Basic Z3Vlc3M=');
  assert.ok(!door.passes('192.0.2.1', 'Basic bmV3'));
  door.advance(60);
  assert.ok(door.passes('192.0.2.1', 'Basic bmV3'));
});
