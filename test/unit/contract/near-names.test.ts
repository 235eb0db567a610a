// A query parameter or a member of a body that is misspelt gets the declared name, in a bounded number of steps.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bodyCheck } from './compiled.ts';

const LONG = 'l'.repeat(41);
const string = { type: 'string' };
const properties = {
  ...Object.fromEntries(['email', 'page', 'q', LONG].map((name) => [name, string])),
  created: { type: 'string', readOnly: true },
  address: { type: 'object', additionalProperties: false, properties: { street: string } },
};
const closed = { type: 'object', additionalProperties: false, properties };

async function hintsFor(schema: object, value: object): Promise<(string | undefined)[]> {
  const check = await bodyCheck(schema);
  return check(value).map(({ message }) => /Did you mean "(.*)"\?$/.exec(message)?.[1]);
}

it('names members that differ in one or two letters, at any depth', async () => {
  assert.deepEqual(await hintsFor(closed, { emial: 1, offset: 1, pgae: 1 }), ['email', undefined, 'page']);
  assert.deepEqual(await hintsFor(closed, { address: { stret: 'x' } }), ['street']);
  assert.deepEqual(await hintsFor(closed, { emial: 1, email: 'x' }), [undefined]);
  assert.deepEqual(await hintsFor(closed, { ab: 1, creatd: 1, street: 1 }), [undefined, undefined, undefined]);
});

it('names members of the schemas that describe the same value', async () => {
  const joined = { type: 'object', allOf: [{ properties }], unevaluatedProperties: false };
  assert.deepEqual(await hintsFor(joined, { emial: 1 }), ['email']);
  const apart = { type: 'object', allOf: [{ properties }], additionalProperties: false };
  assert.deepEqual(await hintsFor(apart, { emial: 1 }), [undefined]);
});

it('says nothing of long names, nor of more than twenty', async () => {
  assert.deepEqual(await hintsFor(closed, { [LONG.slice(1)]: 1, [`${LONG}l`]: 1 }), [undefined, undefined]);
  const wrong = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`page${index % 10}${index > 9 ? 'x' : ''}${index > 19 ? 'y' : ''}`, 1]),
  );
  const hints = await hintsFor(closed, { ...wrong, emial: 1 });
  assert.equal(hints.length, 31);
  assert.equal(hints.at(-1), undefined);
});
