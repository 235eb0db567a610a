// Every fault is named with file, line and a remedy.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { upstreamEntry } from '../../gateway/config/upstreams/upstreams-file.ts';
import { ConfigError, closest, condense, suggest } from '../../gateway/shared/mistakes.ts';
import { type Files, sentencesFor, sound, spoiled } from './faults.ts';
import { faultsInContracts } from './faults-in-contracts.ts';
import { faultsInFiles } from './faults-in-files.ts';
import { faultsOfForm } from './faults-of-form.ts';
import { faultsOfIndentation } from './faults-of-indentation.ts';
import { faultsOfLines } from './faults-of-lines.ts';
import { faultsOfOperations } from './faults-of-operations.ts';
import { faultsOfSchemas } from './faults-of-schemas.ts';

const faults = {
  ...faultsInFiles,
  ...faultsInContracts,
  ...faultsOfForm,
  ...faultsOfIndentation,
  ...faultsOfLines,
  ...faultsOfOperations,
  ...faultsOfSchemas,
};

test('the configuration that the faults spoil is sound', async () => {
  assert.deepEqual(await sentencesFor({ files: {} }), []);
});

describe('a fault is reported', () => {
  for (const [name, fault] of Object.entries(faults)) {
    test(name, async () => {
      assert.notEqual(fault.says.length, 0);
      assert.deepEqual(await sentencesFor(fault), fault.says);
    });
  }
});

test('every sentence has a file, and but for files that are missing or misplaced, a line', () => {
  for (const [name, { says }] of Object.entries(faults)) {
    for (const sentence of says) {
      const hasLine = /^(config|openapi)\/[a-z/]+\.(yaml|md):\d+/.test(sentence);
      const isAboutFile =
        name === 'missing-file' || name === 'stray-file' || sentence.includes(': the name of the file ');
      assert.ok(hasLine || isAboutFile, sentence);
      assert.match(sentence, /^\S+: .*[.!] [A-Z].*[.?]$/, 'a reason, then a remedy');
    }
  }
});

test('a wrong member of an entry is reported once, even if other members depend on it', async () => {
  for (const member of Object.keys(upstreamEntry.shape)) {
    const entry = { contracts: ['items.yaml'], live: 'http://127.0.0.1:9', authorization: 'forward' };
    const upstreams = { upstreams: { items: { ...entry, [member]: { wrong: [0] } } } };
    const says = await sentencesFor({ files: { 'config/upstreams.yaml': JSON.stringify(upstreams, null, 2) } });
    assert.ok(
      says.some((sentence) => /^config\/upstreams\.yaml:\d+/.test(sentence)),
      `${member}: ${says}`,
    );
    assert.doesNotMatch(says.join(), /Cannot read|undefined/, member);
  }
});

test('mistakes in several files are reported all at once', async () => {
  const more = '  more:\n    contracts: [more.yaml]\n    live: nowhere\n';
  const says = await sentencesFor({
    files: {
      ...spoiled('config/gateway.yaml', '[]', '[nowhere]'),
      ...spoiled('config/limits.yaml', 'requests: 100', 'requests: 0'),
      ...spoiled('openapi/items.yaml', '"items:write"', '"items:wriet"'),
      'config/upstreams.yaml': `${sound['config/upstreams.yaml']}${more}`,
      'config/stray.yml': '',
    },
  });
  assert.deepEqual(
    says.map((sentence) => sentence.split(': ')[0]),
    [
      'config/stray.yml',
      'config/gateway.yaml:2:18',
      'config/upstreams.yaml:8:11',
      'config/limits.yaml:2:25',
      'openapi/items.yaml:11:20',
      'config/upstreams.yaml:7:17',
    ],
  );
});

test('contracts are checked unless a fault of their entry concerns them', async () => {
  const entry = (piece: string, by: string) => ({
    ...spoiled('config/upstreams.yaml', piece, by),
    ...spoiled('openapi/items.yaml', '"items:write"', '"items:wriet"'),
  });
  const filesNamed = async (files: Files) => (await sentencesFor({ files })).map((sentence) => sentence.split(':')[0]);
  assert.deepEqual(await filesNamed(entry('1000', '0')), ['config/upstreams.yaml', 'openapi/items.yaml']);
  assert.deepEqual(await filesNamed(entry('    timeoutMs', '    secruity: {}\n    timeoutMs')), [
    'config/upstreams.yaml',
  ]);
});

test('two mistakes in one file are two', async () => {
  const says = await sentencesFor(spoiledTwice());
  assert.deepEqual(says, [...(faults['unknown-key']?.says ?? []), ...(faults['bad-target']?.says ?? [])].reverse());
});

function spoiledTwice() {
  const text = sound['config/upstreams.yaml'].replace('timeoutMs', 'timeoutMS').replace('http://items', 'items');
  return { files: { 'config/upstreams.yaml': text } };
}

test('a variable in place of a number is a number', async () => {
  const files = spoiled('config/upstreams.yaml', '1000', '\x24{TIMEOUT}');
  assert.deepEqual(await sentencesFor({ files, environment: { TIMEOUT: '1000' } }), []);
  assert.match(
    (await sentencesFor({ files, environment: { TIMEOUT: 'soon' } }))[0] ?? '',
    /^config\/upstreams\.yaml:5:16: .*: "\$\{TIMEOUT\}" is not possible here/,
  );
});

test('variables of the environment are checked as well', async () => {
  for (const [environment, sentence] of [
    [{ PORT: 'http' }, 'environment: PORT: "http" is not a port number. Set PORT to 0–65535, or unset it for 8080.'],
    [
      { ADMIN_PORT: '70000' },
      'environment: ADMIN_PORT: "70000" is not a port number. Set ADMIN_PORT to 0–65535, or unset it for 9090.',
    ],
    [
      { REDIS_URL: 'redis' },
      'environment: REDIS_URL: this is not the address of a Redis. Write redis://host:6379, redis+sentinel://host:26379,host:26379/master or redis+cluster://host:6379,host:6379, or unset REDIS_URL for limits counted in the process.',
    ],
  ] as const)
    assert.deepEqual(await sentencesFor({ files: {}, environment }), [sentence]);
  const both = await sentencesFor({ files: {}, environment: { PORT: 'x', ADMIN_PORT: 'y' } });
  assert.equal(both.length, 2);
});

test('directories that do not exist are named', async () => {
  const [config] = await sentencesFor({ files: {}, environment: { GATEWAY_CONFIG: '/no/where' } });
  assert.equal(config, '/no/where: the configuration directory does not exist. Create it, or correct GATEWAY_CONFIG.');
  const [contracts] = await sentencesFor({ files: {}, environment: { GATEWAY_CONTRACTS: '/no/where' } });
  assert.match(
    contracts ?? '',
    /the contracts directory \/no\/where does not exist\. Create it, or correct GATEWAY_CONTRACTS\.$/,
  );
});

test('many mistakes that are alike are reported as the first few and a number', () => {
  const mistake = (line: number) => ({ file: 'a.yaml', line, reason: 'is wrong.', remedy: 'Right it.' });
  const lines = Array.from({ length: 40 }, (_, index) => mistake(index));
  const told = condense(lines.map((one) => ({ ...one, remedy: `Right ${one.line}.` })));
  assert.equal(told.length, 6);
  assert.equal(told.at(-1)?.reason, 'the same mistake occurs in 35 more places.');
  const lineNumbers = '1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …';
  assert.deepEqual(condense([...lines, mistake(0)]), [
    { ...mistake(0), remedy: `Right it. The same mistake is in 39 more places: line ${lineNumbers}.` },
  ]);
  assert.equal(condense(lines.slice(0, 2)).length, 2);
  assert.match(new ConfigError(told).message, /^a\.yaml:0: is wrong\. Right 0\.\n/);
});

test('the closest name is suggested, or all there are', () => {
  assert.equal(suggest('custmers', ['customers', 'jobs']), 'Did you mean "customers"?');
  assert.equal(suggest('CUSTOMERS', ['customers', 'jobs']), 'Did you mean "customers"?');
  assert.equal(closest('gte', ['delete', 'get'], 1), 'get', 'two letters swapped are one edit');
  assert.equal(closest('pst', ['put', 'post'], 1), 'post', 'a letter left out is likelier than another letter');
  assert.equal(suggest('x', ['customers', 'jobs']), 'Use one of: customers, jobs.');
  assert.equal(suggest('rateLimit', ['answers', 'limit', 'live']), 'Did you mean "limit"?');
  assert.equal(suggest('x', []), 'None is defined.');
});
