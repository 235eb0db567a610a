import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Contracts, type LoadOptions, loadContracts, locateMistakes } from '../../../gateway/contract/load.ts';
import type { ContractOperation } from '../../../gateway/contract/operations/operations.ts';
import { createDirectReader } from '../../../gateway/contract/reading/document.ts';
import type { Mistake } from '../../../gateway/shared/mistakes.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { documentOf } from './compiled.ts';

const directory = temporaryDirectory();
const direct = createDirectReader();

const responses = { 200: { description: 'fine' } };
const requestBody = { content: { 'application/json': { schema: { type: 'object', maxProperties: 1 } } } };
function write(name: string, operation: object = {}): void {
  const post = { requestBody, responses, ...operation };
  writeFileSync(join(directory, `${name}.json`), JSON.stringify(documentOf({ [`/${name}`]: { post } }), null, 1));
}

interface Loaded extends Contracts {
  readonly mistakes: readonly Mistake[];
  /** Names of the files that were read. */
  readonly read: readonly string[];
}

/** Loads two contracts; after `earlier` and with `changed` it reports the documents read. */
async function load(
  says: Partial<Record<'one' | 'two', object>> = {},
  { earlier, changed = [], limits = ['extra'] }: { earlier?: Loaded; changed?: string[]; limits?: string[] } = {},
): Promise<Loaded> {
  const [mistakes, read]: [Mistake[], string[]] = [[], []];
  const mistake = (reason: string, remedy: string) => ({ file: 'upstreams.yaml', reason, remedy });
  const options: LoadOptions = {
    directory,
    sources: (['one', 'two'] as const).map((upstream) => ({
      ...{ upstream, contracts: [`${upstream}.json`], public: true },
      mistakeAtGlob: (_: number, reason: string, remedy: string) => mistake(reason, remedy),
      mistakeAtEntry: mistake,
      ...says[upstream],
    })),
    known: { upstreams: ['one', 'two'], limits },
    namedOperations: [],
    mistakeAtOperation: (_, reason, remedy) => mistake(reason, remedy),
    reader: {
      locate: direct.locate,
      readContract(file, found) {
        read.push(file.slice(directory.length + 1, -'.json'.length));
        return direct.readContract(file, found);
      },
    },
    earlier: earlier && {
      contracts: earlier,
      isUnchanged: (file) => !changed.some((name) => file === join(directory, `${name}.json`)),
    },
  };
  const contracts = await loadContracts(options, mistakes);
  await locateMistakes(contracts, options.reader);
  return { ...contracts, mistakes, read };
}

const operationAt = ({ operations }: Contracts, path: string) =>
  operations.find(({ operation }) => operation.path === path) as ContractOperation;
/** The compiled schemas of an operation. */
const compiled = (contracts: Contracts, path: string) => contracts.schemas.request(operationAt(contracts, path));

test('only changed documents are read, and everything else stays the same object, compiled schemas included', async () => {
  write('one');
  write('two');
  const first = await load();
  assert.deepEqual(first.read, ['one', 'two']);
  const [one, two] = [compiled(first, '/one'), compiled(first, '/two')];
  write('two', { operationId: 'renamed' });
  const second = await load({}, { earlier: first, changed: ['two'] });
  assert.deepEqual(second.read, ['two']);
  assert.equal(operationAt(second, '/one'), operationAt(first, '/one'));
  assert.equal(operationAt(second, '/two').operation.id, 'renamed');
  assert.equal(compiled(second, '/one'), one);
  assert.notEqual(compiled(second, '/two'), two);
  assert.equal(compiled(first, '/two'), two);
});

test('a change of an entry changes the operations of its own documents only, and compiles nothing anew', async () => {
  write('one');
  write('two');
  const first = await load();
  const [one, two] = [compiled(first, '/one'), compiled(first, '/two')];
  const second = await load({ one: { timeoutMs: 17 }, two: { cost: 5, timeoutMs: 17 } }, { earlier: first });
  assert.deepEqual(second.read, []);
  assert.equal(operationAt(second, '/one'), operationAt(first, '/one'));
  assert.equal(operationAt(second, '/two').operation.cost, 5);
  assert.equal(compiled(second, '/one'), one);
  assert.equal(compiled(second, '/two'), two);
  const third = await load({ two: { cost: 5, basePath: '/b' } }, { earlier: second });
  assert.equal(operationAt(third, '/b/two').operation.cost, 5);
});

test('an unchanged contract is held against names that are gone', async () => {
  write('one', { 'x-gateway-limit': 'extra' });
  write('two');
  const first = await load();
  assert.deepEqual(first.mistakes, []);
  const second = await load({}, { earlier: first, limits: [] });
  assert.deepEqual(second.read, []);
  assert.deepEqual(
    second.mistakes.map(({ file, line, place }) => [file.endsWith('one.json'), line, place]),
    [[true, 25, 'paths./one.post.x-gateway-limit']],
  );
});

test('mistakes in several places of several files have their lines', async () => {
  write('one', { 'x-gateway-cost': 0, 'x-gateway-colour': 'red' });
  write('two', { 'x-gateway-limit': 'none' });
  const { mistakes } = await load();
  assert.deepEqual(
    mistakes.map(({ line, column, place }) => [line, column, place]),
    [
      [25, 23, 'paths./one.post.x-gateway-cost'],
      [26, 5, 'paths./one.post.x-gateway-colour'],
      [25, 24, 'paths./two.post.x-gateway-limit'],
    ],
  );
});

test('an operation at a path of the gateway itself is a mistake', async () => {
  write('one');
  write('two');
  for (const basePath of ['/docs', '/openapi']) {
    const { mistakes } = await load({ one: { basePath } });
    assert.deepEqual(
      mistakes.map(({ line, reason, remedy }) => [typeof line, reason, remedy]),
      [
        [
          'number',
          `${basePath}/one is one of the gateway's own paths.`,
          'Set another basePath in its entry of upstreams.yaml.',
        ],
      ],
    );
  }
  assert.deepEqual((await load({ one: { basePath: '/docsets' } })).mistakes, []);
});
