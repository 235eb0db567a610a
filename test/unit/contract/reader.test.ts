import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { createDirectReader } from '../../../gateway/contract/reading/document.ts';
import { createThreadReader } from '../../../gateway/contract/reading/reader.ts';
import type { Mistake } from '../../../gateway/shared/mistakes.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { documentOf } from './compiled.ts';

describe('the thread that reads contracts', () => {
  const directory = temporaryDirectory();
  const reader = createThreadReader();
  after(() => {
    reader.close();
  });
  const write = (name: string, document: unknown) => {
    const file = join(directory, name);
    writeFileSync(file, JSON.stringify(document));
    return file;
  };

  /** The names read there, beside those read here. */
  async function both(file: string) {
    const [there, here]: [Mistake[], Mistake[]] = [[], []];
    const read = await reader.readContract(file, there);
    return {
      there: { read, mistakes: there },
      here: { read: await createDirectReader().readContract(file, here), mistakes: here },
    };
  }

  it('hands over a message that is too long for one piece, complete and in its order', async () => {
    const text = 'x'.repeat(30_000);
    const answer = { responses: { 200: { description: text } } };
    const paths = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`/p${index}`, { get: answer }]));
    const schemas = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`S${index}`, { type: 'object', description: text, required: ['a'] }]),
    );
    const { there, here } = await both(write('large.json', documentOf(paths, { components: { schemas } })));
    assert.ok(isDeepStrictEqual(there, here));
    assert.ok(JSON.stringify(there.read?.root) === JSON.stringify(here.read?.root));
    assert.equal(Object.keys(there.read?.root.paths as object).length, 30);
  });

  it('reports faults as the boot does, and that a part is no document', async () => {
    const wrong = await both(write('wrong.json', documentOf({ '/a': { get: 1 } })));
    assert.equal(wrong.there.read?.isBroken, true);
    assert.ok(wrong.there.mistakes.length > 0);
    assert.deepEqual(wrong.there.mistakes, wrong.here.mistakes);
    const part = await both(write('part.json', { schemas: {} }));
    assert.deepEqual(part.there, { read: undefined, mistakes: [] });
  });

  it('rejects instead of waiting for ever when it is closed meanwhile', async () => {
    const other = createThreadReader();
    const reading = other.readContract(write('late.json', documentOf({})), []);
    other.close();
    await assert.rejects(reading);
  });

  it('is used again after it was closed, for files as they are then', async () => {
    const first = createThreadReader();
    await first.readContract(write('again.json', documentOf({})), []);
    first.close();
    let begun = 0;
    const count = () => {
      begun += 1;
    };
    process.on('worker', count);
    const next = createThreadReader();
    const answer = { responses: { 200: { description: 'fine' } } };
    const read = await next.readContract(write('again.json', documentOf({ '/new': { get: answer } })), []);
    assert.deepEqual(Object.keys(read?.root.paths as object), ['/new']);
    next.close();
    process.off('worker', count);
    assert.equal(begun, 0, 'no other thread was started');
  });
});
