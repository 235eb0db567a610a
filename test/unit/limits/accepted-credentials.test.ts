import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAcceptedCredentials } from '../../../gateway/limits/addresses/accepted-credentials.ts';

function setUp() {
  let nowMs = 1_795_190_400_000;
  const accepted = createAcceptedCredentials(
    () => 60_000,
    () => nowMs,
  );
  return {
    accepted,
    advance(ms: number) {
      nowMs += ms;
    },
  };
}

test('the remembered credentials are bounded: the oldest acceptance is forgotten first', () => {
  const { accepted } = setUp();
  accepted.add('again');
  for (let i = 0; i < 9_999; i++) accepted.add(String(i));
  accepted.add('again');
  accepted.add('one more');
  assert.deepEqual(
    ['0', '1', 'again', 'one more'].map((digest) => accepted.has(digest)),
    [false, true, true, true],
  );
});

test('an acceptance counts for its time, and then no request begins with it', () => {
  const { accepted, advance } = setUp();
  accepted.add('a');
  advance(59_999);
  assert.ok(accepted.has('a') && accepted.begin('a'));
  advance(1);
  assert.ok(!accepted.has('a') && accepted.begin('a') === undefined);
});

test('ten requests may be open, and those without an answer stay open until the next acceptance', () => {
  const { accepted } = setUp();
  accepted.add('a');
  const ends = Array.from({ length: 10 }, () => accepted.begin('a'));
  assert.equal(accepted.begin('a'), undefined);
  ends[0]?.(true);
  ends[1]?.(false);
  assert.ok(accepted.begin('a'));
  assert.equal(accepted.begin('a'), undefined);
  accepted.add('a');
  assert.ok(accepted.begin('a'), 'the one without an answer counts no more');
  assert.equal(accepted.begin('a'), undefined, 'those in flight still do');
});

test('a digest is neither the credential nor one that another process makes', () => {
  const [one, other] = [setUp().accepted, setUp().accepted];
  assert.equal(one.digestOf('Basic abc'), one.digestOf('Basic abc'));
  assert.notEqual(one.digestOf('Basic abc'), one.digestOf('Basic abd'));
  assert.notEqual(one.digestOf('Basic abc'), other.digestOf('Basic abc'));
});
