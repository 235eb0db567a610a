// Samples of schemas: written examples first, then the least and the most; and each shipped operation can be tried with them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestsFor } from '../../../gateway/commands/upstreams/plan.ts';
import { loadSettings } from '../../../gateway/config/settings.ts';
import { loadConfiguration } from '../../../gateway/configuration.ts';
import type { JsonObject } from '../../../gateway/contract/pointer.ts';
import { samplesOf } from '../../../gateway/contract/samples/sample.ts';

const samples = (schema: unknown, root: JsonObject = {}) => samplesOf(root, { value: schema, pointer: '' });

describe('samples', () => {
  it('begin with the written examples', () => {
    assert.deepEqual(samples({ type: 'string', enum: ['a', 'b'], default: 'b', example: 'a' }), ['a', 'b']);
    assert.deepEqual(samples({ const: 5 }), [5]);
  });

  it('are the least and the most of a bounded value', () => {
    assert.deepEqual(samples({ type: 'integer', minimum: 3, maximum: 9 }), [3, 9]);
    assert.deepEqual(samples({ type: 'integer', exclusiveMinimum: 0, maximum: 100 }), [1, 100]);
    const lengths = samples({ type: 'string', minLength: 2, maxLength: 5 }).map((text) => String(text).length);
    assert.deepEqual(lengths, [5, 2, 5]);
    assert.deepEqual(samples({ type: ['boolean', 'null'] }), [true, false, null]);
    assert.deepEqual(samples({ type: 'array', items: { const: 1 }, minItems: 2 }), [[1, 1]]);
  });

  it('of objects have the required members, then everything but read-only ones, then one border each', () => {
    const schema = {
      type: 'object',
      required: ['id', 'size'],
      properties: {
        id: { type: 'string', readOnly: true },
        size: { type: 'integer', minimum: 1, maximum: 2 },
        note: { const: 'n' },
      },
    };
    assert.deepEqual(samples(schema), [{ size: 1 }, { size: 1, note: 'n' }, { size: 2 }]);
  });

  it('follow references and composed schemas, circles included', () => {
    const root = {
      Tree: { type: 'object', required: ['size'], properties: { size: { const: 1 }, below: { $ref: '#/Tree' } } },
      Named: { allOf: [{ $ref: '#/Tree' }, { required: ['name'], properties: { name: { const: 'n' } } }] },
    };
    assert.deepEqual(samples({ $ref: '#/Named' }, root)[0], { size: 1, name: 'n' });
    assert.deepEqual(samples({ oneOf: [{ const: 1 }, { const: 2 }] }), [1, 2]);
  });

  it('are enough to try each shipped operation that takes JSON or no body', async () => {
    const { contracts } = await loadConfiguration(loadSettings({}), {});
    for (const entry of contracts.operations.filter(({ operation }) => operation.body !== 'stream'))
      assert.ok(requestsFor(entry, contracts.schemas, new Map()).length > 0, entry.operation.id);
  });
});
