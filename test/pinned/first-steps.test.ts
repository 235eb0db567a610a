// The text of docs/first-steps.md equals the files of deploy/example; test/full takes its steps.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { blocksOf } from '../support/deploy/pages.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const ofYaml = blocksOf('docs/first-steps.md').filter(({ language }) => language === 'yaml');

describe('docs/first-steps.md', () => {
  it('has the contract of the example', () => {
    assert.match(ofYaml[0]?.lead ?? '', /`openapi\/inventory\.yaml`:$/);
    assert.deepEqual(parse(ofYaml[0]?.text ?? ''), parse(read('deploy/example/contracts/inventory.yaml')));
  });

  it('has an entry that fits into those of the shipped configuration', () => {
    const upstreams = parse(read('config/upstreams.yaml').replace(/^upstreams:\n/m, ofYaml[1]?.text ?? '')).upstreams;
    const example = parse(read('deploy/example/config/upstreams.yaml')).upstreams.inventory;
    assert.deepEqual(upstreams.inventory, { ...example, live: 'http://localhost:3000' });
    assert.ok('platform' in upstreams && 'mail' in upstreams);
  });
});
