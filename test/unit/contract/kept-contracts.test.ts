// A start uses the contracts that an earlier start has read, as long as their files are the same. Mistakes and warnings are found anew.

import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, it } from 'node:test';
import { createDirectReader } from '../../../gateway/contract/reading/document.ts';
import { KeptContracts } from '../../../gateway/contract/reading/kept-contracts.ts';
import type { Mistake } from '../../../gateway/shared/mistakes.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { shippedContracts } from '../../support/gateway.ts';
import { documentOf } from './compiled.ts';

let directory: string;
let kept: string;
beforeEach(() => {
  directory = temporaryDirectory();
  kept = join(directory, 'kept');
});

/** Writes a file that is old enough to be kept as part of another one. */
function write(name: string, document: object | string): string {
  const file = join(directory, name);
  writeFileSync(file, typeof document === 'string' ? document : JSON.stringify(document));
  utimesSync(file, 1, 1);
  return file;
}

/** Reads a contract as one start does. */
async function read(file: string, within?: string) {
  const mistakes: Mistake[] = [];
  const store = new KeptContracts(kept);
  let isKnown = false;
  const find = store.find.bind(store);
  store.find = (...asked) => {
    const found = find(...asked);
    isKnown = found !== undefined;
    return found;
  };
  const content = await createDirectReader(within, store).readContract(file, mistakes);
  return { content, mistakes, isKnown };
}

const answering = (schema: object) => ({
  '/a': { get: { responses: { 200: { description: 'fine', content: { 'application/json': { schema } } } } } },
});

it('a shipped contract is the same from the second start on', async () => {
  for (const file of globSync(join(shippedContracts, '{,v1/,mail/}*.yaml'))) {
    const first = await read(file, shippedContracts);
    assert.deepEqual(await read(file, shippedContracts), { ...first, isKnown: true }, file);
  }
});

it('a contract is read again when its file or a file that it refers to has changed', async () => {
  write('part.json', { Item: { type: 'string' } });
  const file = write('whole.json', documentOf(answering({ $ref: './part.json#/Item' })));
  assert.equal((await read(file)).isKnown, false);
  assert.equal((await read(file)).isKnown, true);
  write('part.json', { Item: { type: 'integer' } });
  const changed = await read(file);
  assert.equal(changed.isKnown, false);
  assert.match(JSON.stringify(changed.content?.root), /"integer"/);
  rmSync(join(directory, 'part.json'));
  assert.match((await read(file)).mistakes[0]?.reason ?? '', /there is no file/);
  write('whole.json', documentOf(answering({ type: 'boolean' })));
  assert.equal((await read(file)).isKnown, false);
});

it('a contract that was compiled counts as compiled until a file of it changes', async () => {
  const schema = (type: string) => ({ Item: { type } });
  write('part.json', schema('string'));
  const file = write('whole.json', documentOf(answering({ $ref: './part.json#/Item' })));
  /** Whether a start would find the contract as compiled. */
  async function compiles(isCompiledNow = false): Promise<boolean> {
    const store = new KeptContracts(kept);
    const content = await createDirectReader(undefined, store).readContract(file, []);
    assert.ok(content);
    const before = store.isKnown('compiles', content.root);
    if (isCompiledNow) store.keepFact('compiles', content.root);
    return before;
  }
  assert.equal(await compiles(), false);
  assert.equal(await compiles(true), false);
  assert.equal(await compiles(), true);
  write('part.json', schema('integer'));
  assert.equal(await compiles(true), false, 'the same text, with another part');
  assert.equal(await compiles(), true);
  assert.equal(
    new KeptContracts(join(directory, 'others')).isKnown('compiles', {}),
    false,
    'a contract that is not kept',
  );
});

it('mistakes and warnings are found at each start', async () => {
  const wrong = write('wrong.json', documentOf({ '/a': { get: 1 } }));
  const warned = write('warned.json', documentOf(answering({ type: 'string', format: 'regex' })));
  for (const file of [wrong, warned]) {
    const first = await read(file);
    assert.ok(first.mistakes.length + (first.content?.warnings.length ?? 0) > 0, file);
    assert.deepEqual(await read(file), first);
  }
  assert.equal(existsSync(kept) ? readdirSync(kept).length : 0, 0);
});

it('a small text with a huge tree is not kept', async () => {
  const file = write('it.json', documentOf({}));
  const content = await createDirectReader().readContract(file, []);
  assert.ok(content);
  let shared: unknown = 'a';
  for (let level = 0; level < 60; level++) shared = [shared, shared];
  const root = { ...content.root, 'x-shared': shared };
  new KeptContracts(kept).keep(file, JSON.stringify(documentOf({})), { ...content, root });
  assert.equal(existsSync(kept), false);
});

it('a directory that cannot be written does not change a start', async () => {
  writeFileSync(kept, 'a file');
  const file = write('it.json', documentOf(answering({})));
  for (const _ of [1, 2]) assert.deepEqual((await read(file)).mistakes, []);
});

it('contracts are not compared again until a contract, an operation or a published contract changes', async () => {
  const answer = (type: string) => ({ Item: { type } });
  write('part.json', answer('string'));
  const file = write('whole.json', documentOf(answering({ $ref: './part.json#/Item' })));
  const served = { file, id: 'a', method: 'GET', path: '/a', place: [], security: [], deprecated: false };
  /** Whether a start would find the result of a comparison with `published`. */
  async function isFound(published: string, change: object = {}, keep = false): Promise<boolean> {
    const store = new KeptContracts(kept);
    const { root } = (await createDirectReader(undefined, store).readContract(file, [])) ?? {};
    assert.ok(root);
    const located = { pointer: '/paths/~1a/get' };
    const parameters = [{ pointer: '/paths/~1a/parameters/0' }];
    const comparison = store.comparison(published, [{ ...served, root, located, parameters, ...change }]);
    assert.ok(comparison);
    if (keep) comparison.keep();
    return comparison.breaksNothing;
  }
  assert.equal(await isFound('{}', {}, true), false);
  assert.equal(await isFound('{}'), true);
  assert.equal(await isFound('{ }'), false, 'something else was published');
  assert.equal(await isFound('{}', { path: '/b' }), false, 'the path differs');
  assert.equal(await isFound('{}', { security: [[]] }), false, 'the security differs');
  assert.equal(await isFound('{}', { located: { pointer: '/paths/~1b/get' } }), false);
  assert.equal(await isFound('{}', { parameters: [] }), false, 'a parameter is gone');
  write('part.json', answer('integer'));
  assert.equal(await isFound('{}'), false, 'a part of the contract has changed');
  assert.equal(new KeptContracts(kept).comparison('{}', [{ ...served, root: {} } as never]), undefined, 'not kept');
});
