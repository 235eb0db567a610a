// How many requests an upstream gets at once: the number of its entry, divided by processes, or as many as there are connections.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AccessSettings } from '../../../gateway/upstream/access.ts';
import { openAccesses as open } from './accesses.ts';

const plain: AccessSettings = { live: ['http://127.0.0.1:1'], connections: 16, maxQueued: 1000 };
const basic = { kind: 'basic', user: 'gateway', secret: 'entry' } as const;

/** How many get in at once of as many as come. */
function insideOf(accesses: ReturnType<typeof open>): number {
  const { concurrency } = accesses.find('books') ?? assert.fail('no such upstream');
  const before = concurrency.inFlight();
  for (let index = 0; index < 100; index += 1) concurrency.take('an organization');
  return concurrency.inFlight() - before;
}

function insideWith(entry: Partial<AccessSettings> & { readonly test?: readonly string[] }, workers?: number): number {
  const accesses = open(workers);
  accesses.apply({ books: { ...plain, ...entry } }, 0.5);
  const { credential } = accesses.find('books') ?? {};
  credential?.accepted(credential.header(true), true);
  return insideOf(accesses);
}

it('workers divide the places among themselves, and each has one at least', () => {
  assert.deepEqual(
    [1, 2, 3, 8].map((workers) => insideWith({ maxInFlight: 4, credential: basic }, workers)),
    [4, 2, 1, 1],
  );
  assert.equal(insideWith({ maxInFlight: 5 }, 2), 2);
});

it('without a bound there are as many as connections to its live addresses, of each process', () => {
  assert.equal(insideWith({}), 16);
  assert.equal(insideWith({}, 2), 16);
  assert.equal(insideWith({ test: plain.live }), 16);
  assert.equal(insideWith({ live: ['http://127.0.0.1:1', 'http://127.0.0.1:2'], test: ['http://127.0.0.1:3'] }), 32);
  assert.equal(insideWith({ test: ['examples:'] }), 16);
});

it('one is let in until the credential is known to be right', () => {
  const accesses = open();
  accesses.apply({ books: { ...plain, credential: basic } }, 0.5);
  assert.equal(insideOf(accesses), 1);
});

it('a bound that changes holds for later requests, and those inside count', () => {
  const accesses = open();
  accesses.apply({ books: { ...plain, maxInFlight: 3 } }, 0.5);
  assert.equal(insideOf(accesses), 3);
  accesses.apply({ books: { ...plain, maxInFlight: 5 } }, 0.5);
  assert.equal(insideOf(accesses), 2);
});

it('an upstream that is taken away keeps its bound for those on their way there', () => {
  const accesses = open();
  accesses.apply({ books: { ...plain, maxInFlight: 2 } }, 0.5);
  const { concurrency } = accesses.find('books') ?? assert.fail();
  accesses.apply({}, 0.5);
  assert.equal(accesses.find('books'), undefined);
  assert.deepEqual(accesses.status(), {});
  assert.deepEqual([concurrency.take('one'), concurrency.take('one'), concurrency.take('one')].map(Boolean), [
    true,
    true,
    false,
  ]);
});

it('a credential stays while its entry is unchanged, and is dropped without one', () => {
  const accesses = open();
  const credentialOf = (user: string) => {
    accesses.apply({ books: { ...plain, credential: { ...basic, user } } }, 0.5);
    return accesses.find('books')?.credential;
  };
  const first = credentialOf('one');
  assert.equal(credentialOf('one'), first);
  credentialOf('two');
  assert.notEqual(credentialOf('one'), first);
});
