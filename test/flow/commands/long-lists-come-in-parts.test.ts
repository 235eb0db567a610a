// `keys list` and `orgs list` give a part of a long list, and say how to go on; what follows the parts is the whole.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createSqliteKeyStore } from '../../../gateway/auth/store/sqlite/sqlite-key-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { issue, organization, pepperFingerprint, START_MS } from '../../unit/auth/samples.ts';
import { commandLine } from './command-line.ts';

const KEYS = 1100;

describe('long lists', () => {
  let directory: string;
  let ids: string[];
  before(async () => {
    directory = temporaryDirectory();
    const organizations = Array.from({ length: KEYS }, (_, index) => organization({ id: `org_${10_000 + index}` }));
    const keys = organizations.map(({ id }, index) => issue({ organization: index < 5 ? 'org_10000' : id }).record);
    const store = createSqliteKeyStore({ directory, pepperFingerprint, now: () => START_MS });
    await store.seed(organizations, keys, 'me');
    await store.close();
    ids = keys.map(({ id }) => id);
  });

  const idsIn = (out: string) => [...out.matchAll(/^(?:key|org)_\w+/gm)].map(([id]) => id);

  it('of keys end after 1000 rows, with the command for the next part', async () => {
    const { run } = commandLine(directory);
    const first = await run('keys', 'list');
    assert.deepEqual(idsIn(first.out), ids.slice(0, 1000));
    const next = `There are more: gateway keys list --after ${ids[999]}\n`;
    assert.ok(first.out.endsWith(next), first.out.slice(-200));
    const rest = await run(...next.trim().split(' ').slice(4));
    assert.deepEqual(idsIn(rest.out), ids.slice(1000));
    assert.doesNotMatch(rest.out, /There are more/);
  });

  it('of keys keep their filters from part to part', async () => {
    const { run } = commandLine(directory);
    const { out } = await run('keys', 'list', '--org', 'org_10000', '--limit', '3');
    assert.deepEqual(idsIn(out), ids.slice(0, 3));
    const [, words = ''] = /^There are more: gateway (.*)$/m.exec(out) ?? [];
    assert.equal(words, `keys list --org org_10000 --limit 3 --after ${ids[2]}`);
    const rest = await run(...words.split(' '));
    assert.deepEqual(idsIn(rest.out), ids.slice(3, 5));
    assert.doesNotMatch(rest.out, /There are more/, 'the last part is not followed by an empty one');
    const exact = await run('keys', 'list', '--org', 'org_10000', '--limit', '5');
    assert.doesNotMatch(exact.out, /There are more/);
  });

  it('as JSON are arrays: the whole, or a part that begins behind the last id of the part before', async () => {
    const { json } = commandLine(directory);
    const idsOf = (list: { id: string }[]) => list.map(({ id }) => id);
    assert.deepEqual(idsOf(await json('keys', 'list')), ids);
    const parts: string[][] = [];
    for (let after: string[] = []; ; ) {
      const part: string[] = idsOf(await json('keys', 'list', '--limit', '400', ...after));
      parts.push(part);
      if (part.length < 400) break;
      after = ['--after', part.at(-1) as string];
    }
    assert.deepEqual(
      parts.map(({ length }) => length),
      [400, 400, 300],
    );
    assert.deepEqual(parts.flat(), ids);
    const all = idsOf(await json('orgs', 'list'));
    assert.equal(all.length, KEYS);
    assert.deepEqual(idsOf(await json('orgs', 'list', '--limit', '2', '--after', all[41] ?? '')), all.slice(42, 44));
  });

  it('of organizations have the same parts as lists of keys', async () => {
    const { run } = commandLine(directory);
    const { out } = await run('orgs', 'list', '--limit', '2');
    assert.match(out, /^There are more: gateway orgs list --limit 2 --after org_10001\n$/m);
    assert.doesNotMatch((await run('orgs', 'list', '--after', 'org_10100')).out, /There are more/);
  });

  for (const [words, reason] of [
    [['keys', 'list', '--limit', '0'], '--limit 0 is not a number from 1 to 100000.'],
    [['orgs', 'list', '--limit', '1e3'], '--limit 1e3 is not a number from 1 to 100000.'],
    [['keys', 'list', '--limit', '100001', '--json'], '--limit 100001 is not a number from 1 to 100000.'],
    [['keys', 'list', '--after', 'key_nobody'], 'There is no key key_nobody to go on behind.'],
  ] as const) {
    it(`say what is wrong with ${words.slice(2).join(' ')}`, async () => {
      const { code, err } = await commandLine(directory).run(...words);
      assert.notEqual(code, 0);
      assert.ok(err.startsWith(reason), err);
    });
  }

  it('of one organization begin behind its own keys only', async () => {
    const { err } = await commandLine(directory).run('keys', 'list', '--org', 'org_10000', '--after', ids[20] ?? '');
    assert.equal(err, `${ids[20]} is no key of org_10000.`);
  });
});
