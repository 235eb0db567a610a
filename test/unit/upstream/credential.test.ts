import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { isSuspended } from '../../../gateway/shared/contracts/upstreams.ts';
import { Credential } from '../../../gateway/upstream/credentials/credential.ts';
import { NO_PROBES } from '../../../gateway/upstream/credentials/latch-probes.ts';

/** The content of the secret's file. */
type Secret = string | undefined | (() => never);

function setUp(secret: Secret) {
  let nowMs = 1_795_190_400_000;
  let present: Secret = secret;
  let reads = 0;
  const told: string[] = [];
  const settings = { kind: 'basic', user: 'admin', secret: 'entry' } as const;
  const credential = new Credential('mail', settings, {
    readSecret() {
      reads += 1;
      return typeof present === 'function' ? present() : present;
    },
    secretWrittenAt: () => undefined,
    probes: NO_PROBES,
    now: () => nowMs,
    onSuspended: (_upstream, why) => told.push(why),
    onHealed: () => told.push('healed'),
  });
  return {
    forgetRefusal: () => credential.forgetRefusal(),
    sendsSeveral: () => credential.sendsSeveral(),
    matches: (user: string, password: string) => credential.matches(user, password),
    status: () => credential.status(),
    header: () => credential.header(true).fields[1] as string,
    accepted: (value: string) => credential.accepted(named(value), true),
    /** Returns whether the request is to be repeated. */
    refused(value: string): boolean {
      credential.refused(named(value), 401);
      return !credential.isSuspended();
    },
    told,
    put(next: Secret) {
      present = next;
    },
    advance(ms: number) {
      nowMs += ms;
    },
    /** How often the secret is read while this is done. */
    readsOf(work: () => void): number {
      const before = reads;
      work();
      return reads - before;
    },
  };
}

const named = (value: string) => ({ fields: ['authorization', value] });
const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
const broken = () => {
  throw new Error('EACCES');
};

function assertSuspended(credential: ReturnType<typeof setUp>, state = 'latched'): void {
  assert.throws(
    credential.header,
    (thrown) => thrown instanceof GatewayError && thrown.code === 'upstream_auth_failed',
  );
  assert.deepEqual([credential.status(), credential.sendsSeveral()], [state, false]);
}

for (const [what, secret, pair] of [
  ['a password alone', 'first', 'admin:first'],
  ['user name and password', 'root:first', 'root:first'],
  ['a password with colons', 'root:a:b', 'root:a:b'],
  ['a newline at the end', 'root:first\n', 'root:first'],
  ['another newline at the end', 'first\r\n', 'admin:first'],
  ['letters beyond ASCII', 'Jörg:pässwörd', 'Jörg:pässwörd'],
] as const) {
  test(`the secret may be ${what}`, () => {
    const credential = setUp(secret);
    assert.equal(credential.header(), basic(pair));
    assert.deepEqual([credential.status(), credential.told], ['unproven', []]);
  });
}

for (const [what, secret, reason] of [
  ['is not there', undefined, 'absent'],
  ['cannot be read', broken, 'unusable'],
  ['is empty', '', 'unusable'],
  ['has no password', 'root:', 'unusable'],
  ['has no user name', ':first', 'unusable'],
  ['is several lines', 'root:first\nroot:second', 'unusable'],
] as const) {
  test(`a secret that ${what} suspends requests from the start, and a sound one lets them through`, () => {
    const credential = setUp(secret);
    assertSuspended(credential, 'no_secret');
    assert.equal(credential.matches('', ''), false);
    credential.put('first');
    assert.equal(credential.header(), basic('admin:first'));
    assert.deepEqual([credential.status(), credential.told], ['unproven', [reason, 'healed']]);
  });
}

test('the first acceptance proves it, and another secret has to be proven anew', () => {
  const credential = setUp('first');
  credential.accepted(credential.header());
  assert.deepEqual([credential.status(), credential.sendsSeveral()], ['proven', true]);
  credential.put('second');
  credential.advance(250);
  assert.equal(credential.header(), basic('admin:second'));
  assert.deepEqual([credential.status(), credential.sendsSeveral()], ['unproven', false]);
  assert.deepEqual(credential.told, []);
});

test('a refusal latches once: nothing is sent any more, and the secret is read for each request', () => {
  const credential = setUp('first');
  const header = credential.header();
  assert.equal(credential.refused(header), false);
  assertSuspended(credential);
  assert.equal(
    credential.readsOf(() => {
      for (let count = 0; count < 3; count += 1) assertSuspended(credential);
    }),
    3,
  );
  assert.equal(credential.refused(header), false, 'another one that was in flight');
  assert.deepEqual(credential.told, ['refused']);
});

test('the right secret heals without waiting, and the next request is sent with it', () => {
  const credential = setUp('first');
  credential.refused(credential.header());
  credential.put('second');
  assert.equal(credential.header(), basic('admin:second'));
  credential.accepted(basic('admin:second'));
  assert.equal(credential.status(), 'proven');
  assert.deepEqual(credential.told, ['refused', 'healed']);
});

test('a secret that was replaced before the refusal came in is worth trying once more, and nothing is reported', () => {
  const credential = setUp('first');
  const header = credential.header();
  credential.put('second');
  assert.equal(credential.refused(header), true);
  assert.deepEqual([credential.status(), credential.header()], ['unproven', basic('admin:second')]);
  assert.deepEqual(credential.told, []);
  assert.equal(credential.refused(basic('admin:second')), false);
  assert.deepEqual(credential.told, ['refused']);
});

test('a late refusal of a secret that was replaced and proven meanwhile does not latch the new one', () => {
  const credential = setUp('first');
  const late = credential.header();
  credential.put('second');
  credential.advance(250);
  credential.accepted(credential.header());
  assert.equal(credential.refused(late), true);
  assert.equal(credential.status(), 'proven');
  assert.deepEqual(credential.told, []);
});

test('a late refusal of an older secret changes nothing while the present one is refused too', () => {
  const credential = setUp('first');
  const late = credential.header();
  credential.put('second');
  credential.advance(250);
  credential.refused(credential.header());
  assert.equal(credential.refused(late), false);
  assertSuspended(credential);
});

test('an acceptance that comes in after the refusal of the same secret was sent before it, and changes nothing', () => {
  const credential = setUp('first');
  const header = credential.header();
  credential.refused(header);
  credential.accepted(header);
  assertSuspended(credential);
});

test('an acceptance of the former secret does not prove the present one', () => {
  const credential = setUp('first');
  const former = credential.header();
  credential.put('second');
  credential.advance(250);
  credential.header();
  credential.accepted(former);
  assert.equal(credential.status(), 'unproven');
});

test('a refused secret stays refused in another spelling, and after it was away', () => {
  const credential = setUp('first');
  credential.refused(credential.header());
  for (const same of ['admin:first', 'first\n', undefined, broken, 'first']) {
    credential.put(same);
    assertSuspended(credential, same === undefined || same === broken ? 'no_secret' : 'latched');
  }
  assert.deepEqual(credential.told, ['refused'], 'suspended all the time');
});

test('a secret that goes away suspends requests, until the same one returns', () => {
  const credential = setUp('first');
  credential.accepted(credential.header());
  credential.put(undefined);
  credential.advance(249);
  assert.equal(credential.header(), basic('admin:first'), 'not read yet');
  credential.advance(1);
  assertSuspended(credential, 'no_secret');
  assert.equal(credential.matches('admin', 'first'), false);
  credential.put('first');
  assert.equal(credential.header(), basic('admin:first'));
  assert.equal(credential.status(), 'proven');
  assert.deepEqual(credential.told, ['absent', 'healed']);
});

test('a refusal while the secret is away is remembered until another one comes', () => {
  const credential = setUp('first');
  const header = credential.header();
  credential.put(undefined);
  assert.equal(credential.refused(header), false);
  credential.put('first');
  assertSuspended(credential);
  credential.put('second');
  assert.equal(credential.header(), basic('admin:second'));
  assert.deepEqual(credential.told, ['absent', 'healed']);
});

test('in the normal course the secret is read once in 250 ms, for any number of requests', () => {
  const credential = setUp('first');
  const askMuch = () => {
    for (let count = 0; count < 100; count += 1) {
      credential.header();
      credential.matches('admin', 'wrong');
      credential.matches('admin', 'first');
    }
  };
  assert.equal(credential.readsOf(askMuch), 0, 'it was read when it was made');
  credential.advance(249);
  assert.equal(credential.readsOf(askMuch), 0);
  credential.advance(1);
  assert.equal(credential.readsOf(askMuch), 1);
  credential.advance(-3_600_000);
  assert.equal(credential.readsOf(askMuch), 1, 'a clock that was set back holds nothing up');
});

test('while latched, clients are compared with the present secret', () => {
  const credential = setUp('first');
  credential.refused(credential.header());
  credential.put('second');
  assert.equal(credential.matches('admin', 'first'), false);
  assert.equal(credential.matches('admin', 'second'), true);
});

test('clients are compared with the present secret: a new password is accepted within 250 ms, the former one no longer', () => {
  const credential = setUp('first');
  assert.equal(credential.matches('admin', 'first'), true);
  credential.put('second');
  credential.advance(250);
  assert.equal(credential.matches('admin', 'first'), false);
  assert.equal(credential.matches('admin', 'second'), true);
});

for (const [user, password, matches] of [
  ['admin', 'First', true],
  [' ADMIN\u00a0', 'First', true],
  ['admin', 'first', false],
  ['admin', ' First', false],
  ['admin', 'First:', false],
  ['adm', 'First', false],
  ['First', 'admin', false],
  ['', '', false],
] as const) {
  test(`"${user}" with "${password}" ${matches ? 'is' : 'is not'} "Admin:First"`, () => {
    assert.equal(setUp('Admin:First').matches(user, password), matches);
  });
}

/** The lengths of the values compared in constant time, pair by pair. */
function watchComparisons(t: TestContext) {
  const { mock } = t.mock.method(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return () => {
    const lengths = mock.calls.map(({ arguments: [a, b] }) => [a.byteLength, b.byteLength]);
    mock.resetCalls();
    return lengths;
  };
}

test('every guess costs the same two comparisons of digests, with either half right, and also without a secret', (t) => {
  const comparisons = watchComparisons(t);
  const present = setUp('root:first');
  const absent = setUp(undefined);
  for (const { matches } of [present, absent]) {
    for (const user of ['root', 'r', '', 'x'.repeat(5000)]) {
      for (const password of ['first', 'f', '', 'x'.repeat(5000)]) {
        matches(user, password);
        assert.deepEqual(comparisons(), [
          [32, 32],
          [32, 32],
        ]);
      }
    }
  }
});

test('no thrown or reported value holds anything of the secret', () => {
  const password = crypto.randomBytes(12).toString('hex');
  const credential = setUp(`root:${password}`);
  const header = credential.header();
  credential.refused(header);
  assert.throws(credential.header, (thrown) => {
    const { message, details } = thrown as GatewayError;
    const all = JSON.stringify([message, details, String(details.cause)]);
    for (const secret of [password, header.slice(6), 'root']) assert.ok(!all.includes(secret));
    return true;
  });
  assert.deepEqual(credential.told, ['refused']);
});

test('in any order of events, a refused secret is never sent again, and each change is reported once', () => {
  const step = fc.oneof(
    fc.record({ put: fc.constantFrom<Secret>('first', 'second', 'third', undefined, broken) }),
    fc.constantFrom('send', 'accept', 'refuse', 'guess', 'wait'),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const credential = setUp('first');
      const inFlight: string[] = [];
      let lastRefused: string | undefined;
      for (const one of steps) {
        if (typeof one === 'object') credential.put(one.put);
        else if (one === 'wait') credential.advance(250);
        else if (one === 'guess') credential.matches('admin', 'guess');
        else if (one === 'accept') credential.accepted(inFlight.shift() ?? '');
        else if (one === 'refuse' && inFlight.length > 0) {
          const header = inFlight.shift() as string;
          if (!credential.refused(header)) lastRefused = header;
        } else if (one === 'send') {
          try {
            const header = credential.header();
            assert.notEqual(header, lastRefused);
            lastRefused = undefined;
            inFlight.push(header);
          } catch (thrown) {
            assert.ok(thrown instanceof GatewayError);
            assert.ok(isSuspended(credential.status()));
          }
        }
        assert.equal(isSuspended(credential.status()), credential.told.length % 2 === 1);
      }
      for (const [at, what] of credential.told.entries()) assert.equal(what === 'healed', at % 2 === 1);
    }),
  );
});
