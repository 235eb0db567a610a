import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Admitted } from '../../../gateway/exchange/exchange.ts';
import {
  type LoginAttempt,
  LoginThrottle,
  type LoginThrottleRules,
} from '../../../gateway/limits/addresses/login-throttle.ts';

const DAY = 86_400;

function setUp(changed: { failures?: number; failuresTotal?: number } = {}) {
  let rules: LoginThrottleRules = { failures: 10, failuresWindowSeconds: DAY, ...changed };
  let nowMs = 1_795_190_400_000;
  const logins = new LoginThrottle(() => rules, { name: 'mail', now: () => nowMs });
  const asking = (clientAddress: string, socket = { destroyed: false }) =>
    ({ clientAddress, request: { socket } }) as unknown as Admitted;

  /** Resolves with the attempt, or rejects with the refusal. */
  async function begin(address: string, credential: string, socket?: { destroyed: boolean }): Promise<LoginAttempt> {
    const digest = logins.digestOf(credential);
    const admitted = asking(address, socket);
    logins.refuseIfBlocked(admitted, digest);
    return logins.admit(admitted, digest);
  }
  return {
    useRules(next: LoginThrottleRules) {
      rules = next;
    },
    begin,
    advance(seconds: number) {
      nowMs += seconds * 1000;
    },
    async answered(status: number | undefined, address: string, credential: string, times = 1) {
      for (let i = 0; i < times; i++) {
        const attempt = await begin(address, credential);
        attempt.answered(status);
        attempt.unanswered();
        await turn();
      }
    },
    async passes(address: string, credential: string): Promise<boolean> {
      try {
        (await begin(address, credential)).unanswered();
        return true;
      } catch (error) {
        assert.ok(error instanceof GatewayError && error.code === 'auth_attempts_limited');
        return false;
      }
    },
  };
}

/** What has become of an attempt after some turns of the event loop. */
async function stateOf(attempt: Promise<LoginAttempt>): Promise<'begun' | 'refused' | 'waits'> {
  let state: 'begun' | 'refused' | 'waits' = 'waits';
  attempt.then(
    () => {
      state = 'begun';
    },
    () => {
      state = 'refused';
    },
  );
  for (let i = 0; i < 10; i++) await turn();
  return state;
}

for (const status of [401, 402, 403, 429]) {
  test(`${status} to a login is a failure, and enough of them keep the address from logging in until the window ends`, async () => {
    const door = setUp();
    await door.answered(status, '192.0.2.1', 'Basic Z3Vlc3M=', 9);
    assert.ok(await door.passes('192.0.2.1', 'Basic bmV3'));
    await door.answered(status, '192.0.2.1', 'Basic Z3Vlc3M=');
    assert.ok(!(await door.passes('192.0.2.1', 'Basic bmV3')));
    assert.ok(!(await door.passes('192.0.2.1', 'basic Z3Vlc3M=')));
    assert.ok(await door.passes('192.0.2.2', 'Basic bmV3'));
    door.advance(DAY);
    assert.ok(await door.passes('192.0.2.1', 'Basic bmV3'));
  });
}

test('an answer that shows nothing about the login is no failure, and neither is a missing answer', async () => {
  const door = setUp({ failures: 1 });
  await door.answered(undefined, '192.0.2.1', 'Basic Z3Vlc3M=');
  (await door.begin('192.0.2.1', 'Basic Z3Vlc3M=')).unanswered();
  assert.ok(await door.passes('192.0.2.1', 'Basic bmV3'));
});

test('a credential that was accepted within the window passes, independent of its neighbours', async () => {
  const door = setUp();
  await door.answered(200, '192.0.2.1', 'Basic Z29vZA==');
  door.advance(DAY / 2);
  await door.answered(101, '192.0.2.1', 'Basic c29ja2V0');
  await door.answered(401, '192.0.2.1', 'Basic Z3Vlc3M=', 10);
  assert.ok(await door.passes('192.0.2.1', 'Basic Z29vZA=='));
  assert.ok(await door.passes('192.0.2.1', 'Basic c29ja2V0'));
  assert.ok(!(await door.passes('192.0.2.1', 'Basic b3RoZXI=')));
  door.advance(DAY / 2);
  assert.ok(!(await door.passes('192.0.2.1', 'Basic Z29vZA==')));
  assert.ok(await door.passes('192.0.2.1', 'Basic c29ja2V0'));
});

test('guesses that a page accepted first are of little use: each passes once, and a few close the address', async () => {
  const door = setUp({ failures: 20 });
  const guesses = Array.from({ length: 10 }, (_, index) => `Basic ${index}`);
  for (const guess of guesses) await door.answered(200, '192.0.2.1', guess);
  await door.answered(401, '192.0.2.1', 'Basic Z3Vlc3M=', 20);
  let tried = 0;
  for (const guess of guesses) {
    while (await door.passes('192.0.2.1', guess)) {
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
  assert.ok(await door.passes('192.0.2.3', 'Basic bmV3'));
  await door.answered(401, '192.0.2.3', 'Basic Z3Vlc3M=');
  assert.ok(!(await door.passes('192.0.2.4', 'Basic bmV3')));
  assert.ok(await door.passes('192.0.2.4', 'Basic Z29vZA=='));
});

test('new rules hold for windows that begin', async () => {
  const door = setUp({ failures: 5 });
  door.useRules({ failures: 1, failuresWindowSeconds: 60, failuresTotal: undefined });
  await door.answered(401, '192.0.2.1', 'Basic Z3Vlc3M=');
  assert.ok(!(await door.passes('192.0.2.1', 'Basic bmV3')));
  door.advance(60);
  assert.ok(await door.passes('192.0.2.1', 'Basic bmV3'));
});

test('attempts in flight reserve units: the next waits for an outcome, and is refused once failures fill the limit', async () => {
  const door = setUp({ failures: 2 });
  const [one, two] = [await door.begin('192.0.2.1', 'Basic 1'), await door.begin('192.0.2.1', 'Basic 2')];
  const third = door.begin('192.0.2.1', 'Basic 3');
  assert.equal(await stateOf(third), 'waits');
  assert.equal(await stateOf(door.begin('192.0.2.2', 'Basic 3')), 'begun', 'another address');
  one.answered(401);
  assert.equal(await stateOf(third), 'waits', 'the failure has taken the unit');
  two.answered(401);
  await assert.rejects(third, { code: 'auth_attempts_limited' });
});

for (const [outcome, end] of [
  ['the login was right', (attempt: LoginAttempt) => attempt.answered(200)],
  ['the answer shows nothing', (attempt: LoginAttempt) => attempt.answered(undefined)],
  ['the upstream gave no answer', (attempt: LoginAttempt) => attempt.unanswered()],
] as const) {
  test(`a unit is given back once if ${outcome}`, async () => {
    const door = setUp({ failures: 1, failuresTotal: 1 });
    const one = await door.begin('192.0.2.1', 'Basic 1');
    const [second, third] = [door.begin('192.0.2.1', 'Basic 2'), door.begin('192.0.2.3', 'Basic 3')];
    assert.deepEqual([await stateOf(second), await stateOf(third)], ['waits', 'waits']);
    end(one);
    one.unanswered();
    one.abandoned();
    const states = [await stateOf(second), await stateOf(third)].sort();
    assert.deepEqual(states, ['begun', 'waits']);
    (await Promise.race([second, third])).unanswered();
    assert.deepEqual([await stateOf(second), await stateOf(third)], ['begun', 'begun']);
  });
}

test('an attempt whose client has left counts as a failure, once', async () => {
  const door = setUp({ failures: 2 });
  const one = await door.begin('192.0.2.1', 'Basic 1');
  one.abandoned();
  one.abandoned();
  one.unanswered();
  await turn();
  assert.ok(await door.passes('192.0.2.1', 'Basic 3'));
  (await door.begin('192.0.2.1', 'Basic 2')).abandoned();
  await turn();
  assert.ok(!(await door.passes('192.0.2.1', 'Basic 3')));
});

test('a client that leaves while it waits takes no unit', async () => {
  const door = setUp({ failures: 1 });
  const socket = { destroyed: false };
  const one = await door.begin('192.0.2.1', 'Basic 1');
  const [second, third] = [door.begin('192.0.2.1', 'Basic 2', socket), door.begin('192.0.2.1', 'Basic 3')];
  assert.equal(await stateOf(second), 'waits');
  socket.destroyed = true;
  one.unanswered();
  (await second).abandoned();
  (await third).answered(200);
  assert.ok(await door.passes('192.0.2.1', 'Basic 4'), 'no failure is counted');
});

test('many requests at once with a good credential are all admitted, however few failures are allowed', async () => {
  const door = setUp({ failures: 2, failuresTotal: 3 });
  const all = Array.from({ length: 40 }, () => door.begin('192.0.2.1', 'Basic Z29vZA=='));
  let begun = 0;
  for (const attempt of all)
    void attempt.then(async (one) => {
      begun += 1;
      await turn();
      one.answered(200);
    });
  await Promise.all(all);
  assert.equal(begun, 40);
  const trusted = Array.from({ length: 10 }, () => door.begin('192.0.2.9', 'Basic Z29vZA=='));
  for (const attempt of trusted) assert.equal(await stateOf(attempt), 'begun');
});

test('a trusted credential is sent a bounded number of times without an answer, even if its clients leave', async () => {
  const door = setUp({ failures: 3, failuresTotal: 3 });
  await door.answered(200, '192.0.2.1', 'Basic Z29vZA==');
  const addresses = Array.from({ length: 30 }, (_, index) => `198.51.100.${index}`);
  const all = addresses.map((address) => door.begin(address, 'Basic Z29vZA=='));
  const states = [];
  for (const attempt of all) states.push(await stateOf(attempt));
  assert.equal(states.filter((state) => state === 'begun').length, 13, 'ten that are trusted, three that reserve');
  for (const [index, attempt] of all.entries()) if (states[index] === 'begun') (await attempt).abandoned();
  const later = await Promise.all(addresses.map((address) => stateOf(door.begin(address, 'Basic Z29vZA=='))));
  assert.ok(!later.includes('begun'), 'the trust is used up, and so are the failures');
});

test('an answer renews the trust in a credential', async () => {
  const door = setUp({ failures: 1 });
  await door.answered(200, '192.0.2.1', 'Basic Z29vZA==');
  await door.answered(401, '192.0.2.1', 'Basic Z3Vlc3M=');
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 9; i++) (await door.begin('192.0.2.1', 'Basic Z29vZA==')).abandoned();
    await door.answered(200, '192.0.2.1', 'Basic Z29vZA==');
  }
});
