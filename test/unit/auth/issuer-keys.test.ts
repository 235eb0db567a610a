import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { IssuerKeys } from '../../../gateway/auth/tokens/issuer-keys.ts';
import { startIssuer } from '../../support/issuer.ts';
import { fakeClock, hinted, refusal, until } from './samples.ts';

async function start(test: TestContext, options: { timeoutMs?: number; beginsAway?: boolean } = {}) {
  const clock = fakeClock();
  const issuer = await startIssuer(clock.now);
  test.after(issuer.close);
  if (options.beginsAway) issuer.goAway();
  const health: (string | undefined)[] = [];
  const keys = new IssuerKeys({
    jwksUrl: issuer.entry.jwksUrl,
    algorithms: ['EdDSA'],
    refreshSeconds: 300,
    now: clock.now,
    onHealth: (reason) => health.push(reason),
    tickMs: 2,
    timeoutMs: options.timeoutMs ?? 5000,
  });
  test.after(() => keys.close());
  await keys.ready();
  return { clock, issuer, keys, health };
}

test('keys are read at once and then cached, without a promise', async (t) => {
  const { issuer, keys, health, clock } = await start(t);
  const { kid } = issuer.key();
  const found = keys.find(kid, 'EdDSA');
  assert.ok(!(found instanceof Promise));
  assert.deepEqual([found.kid, issuer.asked(), health], [kid, 1, []]);
  assert.deepEqual(keys.status(), { keys: [{ kid, algorithm: 'EdDSA' }], readAtMs: clock.now(), failure: undefined });
});

test('they are read anew every so often, and the same keys stay the same object', async (t) => {
  const { issuer, keys, clock } = await start(t);
  const before = keys.current();
  clock.advance(239_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(issuer.asked(), 1, 'not before 80 % of the time');
  clock.advance(61_000);
  await until(() => keys.status().readAtMs === clock.now());
  assert.equal(keys.current(), before);
  issuer.rotate('withdraw');
  clock.advance(300_000);
  await until(() => keys.current() !== before);
  assert.deepEqual(
    keys.status().keys.map(({ kid }) => kid),
    [issuer.key().kid],
  );
});

test('an unknown key is requested once, also for several waiting tokens', async (t) => {
  const { issuer, keys, clock } = await start(t);
  const { kid } = issuer.rotate();
  clock.advance(30_000);
  const found = await Promise.all(Array.from({ length: 50 }, async () => keys.find(kid, 'EdDSA')));
  assert.deepEqual([...new Set(found.map((key) => key.kid))], [kid]);
  assert.equal(issuer.asked(), 2);
});

test('names that are made up are refused, with one question to the issuer per half minute', async (t) => {
  const { issuer, keys, clock } = await start(t);
  const guess = async () => keys.find(`made-up-${Math.random()}`, 'EdDSA');
  for (let guesses = 0; guesses < 50; guesses += 1) await assert.rejects(guess, hinted('token_invalid', 'key'));
  assert.equal(issuer.asked(), 1, 'they were read just now');
  for (let minutes = 0; minutes < 3; minutes += 1) {
    clock.advance(30_000);
    for (let guesses = 0; guesses < 20; guesses += 1) await assert.rejects(guess, hinted('token_invalid', 'key'));
  }
  assert.equal(issuer.asked(), 4);
});

test('a token that names a key of another kind sends no request', async (t) => {
  const { issuer, keys, clock } = await start(t);
  clock.advance(100_000);
  assert.throws(() => keys.find(issuer.key().kid, 'ES256'), hinted('token_invalid', 'key'));
  assert.equal(issuer.asked(), 1);
});

test('while the issuer is away its last keys hold, and other keys are unknown rather than wrong', async (t) => {
  const { issuer, keys, clock, health } = await start(t);
  const { kid } = issuer.key();
  issuer.goAway();
  for (let minute = 0; minute < 10; minute += 1) {
    clock.advance(60_000);
    await assert.rejects(async () => keys.find('unseen', 'EdDSA'), refusal('auth_unavailable'));
    assert.ok(!(keys.find(kid, 'EdDSA') instanceof Promise));
  }
  const asked = issuer.asked();
  await assert.rejects(async () => keys.find('unseen', 'EdDSA'), refusal('auth_unavailable'));
  assert.equal(issuer.asked(), asked, 'at once, within half a minute of a failure');
  const { failure } = keys.status();
  assert.match(failure ?? '', /^(UND_ERR_SOCKET|ECONNRESET)$/);
  assert.equal(health.length, 1, 'said once');

  issuer.publish();
  clock.advance(30_000);
  await until(() => keys.status().failure === undefined);
  assert.deepEqual(health.slice(1), [undefined]);
});

test('without any keys every token has to wait for them', async (t) => {
  const { issuer, keys, clock } = await start(t, { beginsAway: true });
  const { kid } = issuer.key();
  await assert.rejects(async () => keys.find(kid, 'EdDSA'), refusal('auth_unavailable'));
  assert.deepEqual([keys.current(), keys.status().readAtMs], [undefined, undefined]);
  issuer.publish();
  clock.advance(30_000);
  assert.equal((await keys.find(kid, 'EdDSA')).kid, kid);
});

const answer = (status: number, headers: Record<string, string>, body: string) => (response: ServerResponse) => {
  response.writeHead(status, headers).end(body);
};
const json = { 'content-type': 'application/json' };
for (const [what, respond, reason] of [
  ['a redirect', answer(302, { location: '/elsewhere' }, ''), 'it answered with status 302'],
  ['an error', answer(500, json, '{"keys":[]}'), 'it answered with status 500'],
  ['nothing', answer(204, {}, ''), 'it answered with status 204'],
  ['a page', answer(200, { 'content-type': 'text/html' }, '{"keys":[]}'), 'its answer is not declared to be JSON'],
  ['no type', answer(200, {}, '{"keys":[]}'), 'its answer is not declared to be JSON'],
  ['half an answer', answer(200, json, '{"keys":[{"kty":'), 'it is not JSON'],
  ['no keys', answer(200, json, '{"keys":[]}'), 'it names no key that tokens can be verified with'],
  ['too much', answer(200, json, ' '.repeat(1_048_577)), 'its answer is longer than 1048576 bytes'],
] as const) {
  test(`${what} does not replace good keys`, async (t) => {
    const { issuer, keys, clock } = await start(t);
    const before = keys.current();
    issuer.answers(respond);
    clock.advance(300_000);
    await until(() => keys.status().failure !== undefined);
    assert.equal(keys.status().failure, reason);
    assert.equal(keys.current(), before);
  });
}

test('an issuer that hangs, before its answer or within it, is given up on', async (t) => {
  const { issuer, keys, clock } = await start(t, { timeoutMs: 40 });
  for (const begin of [() => undefined, (response: ServerResponse) => void response.writeHead(200, json).write('{')]) {
    issuer.answers(begin);
    clock.advance(30_000);
    await assert.rejects(async () => keys.find('unseen', 'EdDSA'), refusal('auth_unavailable'));
    assert.equal(keys.status().failure, 'it did not answer in time');
  }
});

test('after close no request is sent, and one in progress is not reported', async (t) => {
  const { issuer, keys, clock, health } = await start(t);
  issuer.answers(() => undefined);
  clock.advance(300_000);
  await until(() => issuer.asked() === 2);
  keys.close();
  await until(() => keys.status().failure !== undefined);
  clock.advance(300_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual([issuer.asked(), health], [2, []]);
});
