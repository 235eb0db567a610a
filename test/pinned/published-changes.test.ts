// The record of what publications changed for clients goes up to what is published: a contract that was written by other means than
// `contract publish`, or a record that a merge has lost, would keep a change from the readers of the documentation.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const directory = fileURLToPath(new URL('../../openapi/published/', import.meta.url));
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

it('the last entry of each published contract has its operations', () => {
  const lines = readFileSync(`${directory}changes.jsonl`, 'utf8').trim().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as { contract: string; operations: number; day: string });
  for (const file of readdirSync(directory).filter((name) => name.endsWith('.json'))) {
    const { paths } = JSON.parse(readFileSync(directory + file, 'utf8')) as { paths: Record<string, object> };
    const operations = Object.values(paths).flatMap((item) => Object.keys(item).filter((key) => METHODS.includes(key)));
    const last = entries.findLast(({ contract }) => `${contract}.json` === file);
    assert.equal(last?.operations, operations.length, file);
  }
  assert.deepEqual(
    entries.map(({ day }) => day),
    entries.map(({ day }) => day).toSorted(),
  );
});
