// What a start leaves for first use, because a former start has compiled it, is compiled soon after: a request of an operation that was not
// called before then waits for no compilation. Large sets of schemas stay for first use.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Contracts } from '../../../gateway/contract/load.ts';
import { compileRest } from '../../../gateway/contract/schemas/compile.ts';
import { createSchemas, type Schemas } from '../../../gateway/contract/schemas/schemas.ts';
import { compileDocument, documentOf } from './compiled.ts';

/** Names of the operations whose schemas are asked for. */
async function compiledOf(count: number): Promise<string[]> {
  const responses = { 200: { description: 'ok' } };
  const paths = Object.fromEntries(
    Array.from({ length: count }, (_, number) => [
      `/things${number}`,
      { get: { operationId: `get${number}`, responses } },
    ]),
  );
  const { operations } = await compileDocument(documentOf(paths));
  const own = createSchemas();
  const compiled: string[] = [];
  const request: Schemas['request'] = (entry) => {
    compiled.push(entry.operation.id);
    return own.request(entry);
  };
  await compileRest({ operations, schemas: { ...own, request } } as unknown as Contracts);
  return compiled;
}

it('every operation of a small set is compiled', async () => {
  assert.deepEqual((await compiledOf(3)).toSorted(), ['get0', 'get1', 'get2']);
});

it('a large set is left for first use', async () => {
  assert.deepEqual(await compiledOf(301), []);
});
