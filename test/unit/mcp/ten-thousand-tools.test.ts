// Ten thousand tools with descriptions of a megabyte: lists are bounded and made in slices, and a search is quick.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Caller } from '../../../gateway/exchange/caller.ts';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import { createLists } from '../../../gateway/mcp/lists.ts';
import { SEARCH_DEFINITIONS, searchTools } from '../../../gateway/mcp/search.ts';
import { select, type ToolCandidate } from '../../../gateway/mcp/selection.ts';

const MEGABYTE = 'words '.repeat(180_000);
const COUNT = 10_000;

const candidates = Array.from({ length: COUNT }, (_, index) => ({
  operation: {
    id: `operation/${index}`,
    qualifiedId: `x.operation/${index}`,
    entry: 'x',
    method: 'GET',
    path: `/${index}`,
  } as Operation,
  source: {
    obstacle: undefined,
    title: `Operation ${index}`,
    description: MEGABYTE,
    tags: [],
    says: {},
    paging: { limit: undefined, cursor: undefined },
    schemas: () => ({ input: { type: 'object' }, output: undefined, losses: [] }),
    write: () => assert.fail('nothing is called'),
  },
  isDeprecated: false,
})) satisfies ToolCandidate[];

const caller = {} as Caller;

function listsOf(mode: 'auto' | 'list') {
  let pauses = 0;
  const { tools } = select(candidates, { thirdParties: [] });
  const listOf = createLists({
    ...{ tools, mode, toolsMax: 64, listBytesMax: 65_536, mayUse: () => true, searchTools: SEARCH_DEFINITIONS },
    pause: () => {
      pauses += 1;
      return undefined;
    },
  });
  return { listOf, pauses: () => pauses };
}

it('are searched in mode auto, without making a single definition', async () => {
  const { listOf, pauses } = listsOf('auto');
  const list = await listOf(caller);
  assert.equal(list.isSearched, true);
  assert.ok(Buffer.byteLength(list.pages.join()) < 8192);
  assert.equal(pauses(), 0);
  const found = searchTools(list.tools, { query: 'operation 77', limit: 25 });
  assert.ok(typeof found === 'object');
  assert.equal(found.operations.length, 25);
  assert.ok(Buffer.byteLength(JSON.stringify(found)) < 16_384);
});

it('are listed in pages in mode list, in slices, each description cut', async () => {
  const { listOf, pauses } = listsOf('list');
  const { pages } = await listOf(caller);
  assert.equal(pauses(), COUNT);
  assert.ok(pages.length > 10);
  for (const page of pages) assert.ok(page.length < 300_000);
  const tools = pages.flatMap((page) => JSON.parse(`[${page}]`) as { name: string; description: string }[]);
  assert.equal(new Set(tools.map(({ name }) => name)).size, COUNT);
  for (const { description } of tools) assert.ok(description.length <= 1200);
  assert.equal(await listOf({} as Caller), await listOf(caller), 'one list for callers of the same rights');
});
