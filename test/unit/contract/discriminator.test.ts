// A discriminator decides between schemas that values would fit alike.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bodyCheck } from './compiled.ts';

const string = { type: 'string' };
const animal = (properties: object = {}, rest: object = {}) => ({
  type: 'object',
  required: ['kind'],
  properties: { kind: string, ...properties },
  ...rest,
});
const schemas = {
  Cat: animal({ lives: { type: 'integer' } }),
  Dog: animal({ tail: string }),
  Fish: animal({ fins: { type: 'integer' } }, { required: ['kind', 'fins'] }),
};
const refs = Object.keys(schemas).map((name) => ({ $ref: `#/components/schemas/${name}` }));
const check = (schema: object) => bodyCheck(schema, { components: { schemas } });
const codes = (violations: readonly { pointer?: string; code: string }[]) =>
  violations.map(({ pointer, code }) => `${pointer} ${code}`);

describe('a oneOf with a discriminator', () => {
  const discriminator = { propertyName: 'kind' };

  it('takes a value that fits several schemas, and checks it by the one that it names', async () => {
    const body = await check({ oneOf: refs, discriminator });
    assert.deepEqual(body({ kind: 'Cat', lives: 9 }), []);
    assert.deepEqual(body({ kind: 'Dog', lives: 'a dog has none' }), []);
    assert.deepEqual(codes(body({ kind: 'Cat', lives: 'x' })), ['/lives wrong_type']);
    assert.deepEqual(codes(body({ kind: 'Fish' })), ['/fins required']);
  });

  it('checks large bodies alike', async () => {
    const body = await check({ oneOf: refs, discriminator });
    assert.deepEqual(body({ kind: 'Cat', lives: 9 }, 5000), []);
    assert.equal(body({ kind: 'Cat', lives: 'x' }, 5000).length, 1);
  });

  it('goes by the mapping, with references and with names of schemas', async () => {
    const mapping = { feline: '#/components/schemas/Cat', canine: 'Dog' };
    const body = await check({ oneOf: refs, discriminator: { ...discriminator, mapping } });
    assert.deepEqual(body({ kind: 'feline', tail: 1 }), []);
    assert.deepEqual(codes(body({ kind: 'canine', tail: 1 })), ['/tail wrong_type']);
    assert.deepEqual(codes(body({ kind: 'Fish' })), ['/fins required']);
  });

  it('names the values when there is none or another one', async () => {
    const body = await check({ oneOf: refs, discriminator });
    assert.deepEqual(codes(body({ kind: 'Bird' })), ['/kind not_allowed']);
    assert.deepEqual(codes(body({})), ['/kind required']);
    assert.equal(body('Cat').length, 1);
    assert.equal(body(null).length, 1);
  });

  it('decides in lists and beside closed objects', async () => {
    const list = await check({ type: 'array', items: { oneOf: refs, discriminator } });
    assert.deepEqual(list([{ kind: 'Cat' }, { kind: 'Dog' }]), []);
    assert.deepEqual(codes(list([{ kind: 'Cat' }, { kind: 'Dog', tail: 1 }])), ['/1/tail wrong_type']);
    const closed = await check({ oneOf: refs, discriminator, unevaluatedProperties: false });
    assert.deepEqual(closed({ kind: 'Cat', lives: 1 }), []);
    assert.deepEqual(codes(closed({ kind: 'Cat', tail: 'long' })), ['/tail unknown']);
  });

  it('leaves a oneOf without discriminator as strict as it is', async () => {
    const body = await check({ oneOf: refs });
    assert.equal(body({ kind: 'Cat', lives: 9 }).length, 1);
  });
});
