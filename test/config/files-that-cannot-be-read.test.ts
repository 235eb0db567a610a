// Files that are there and cannot be read, or would be read as something else than was written.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { sentencesFor, sound } from './faults.ts';

/** The report about the sound configuration after its directory has been spoiled, with paths below it. */
const saidOf = (spoil: (directory: string) => void) => sentencesFor({ files: {} }, spoil);

function put(directory: string, file: string, content: Buffer): void {
  mkdirSync(dirname(join(directory, file)), { recursive: true });
  writeFileSync(join(directory, file), content);
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');

test('text that is not UTF-8 is named with its line, in files and in contracts', async () => {
  const said = await saidOf((directory) => {
    put(directory, 'config/gateway.yaml', latin1('publicUrl: http://localhost:8080\n# caf\u00e9\n'));
    put(
      directory,
      'openapi/items.yaml',
      latin1(sound['openapi/items.yaml'].replace('title: Items', 'title: Caf\u00e9')),
    );
  });
  assert.deepEqual(said, [
    'config/gateway.yaml:2: the file is not in UTF-8. Save it in UTF-8.',
    'openapi/items.yaml:2: the file is not in UTF-8. Save it in UTF-8.',
  ]);
});

test('so is a document that a contract refers to; a replacement character that was written is nothing special', async () => {
  const contract = sound['openapi/items.yaml'].replace('title: Items', 'title: Items \ufffd');
  const said = await saidOf((directory) => {
    put(
      directory,
      'openapi/items.yaml',
      Buffer.from(contract.replace('#/components/schemas/Item', 'parts.yaml#/Item')),
    );
    put(directory, 'openapi/parts.yaml', latin1('Item: { type: object, description: Caf\u00e9 }\n'));
  });
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /^openapi\/items\.yaml:15:21: .*openapi\/parts\.yaml: the file is not in UTF-8/);
  const plain = await saidOf((directory) => put(directory, 'openapi/items.yaml', Buffer.from(contract)));
  assert.deepEqual(plain, []);
});

test('a directory in place of a file is called one', async () => {
  const said = await saidOf((directory) => {
    for (const file of ['config/limits.yaml', 'openapi/items.yaml']) {
      rmSync(join(directory, file));
      mkdirSync(join(directory, file));
    }
  });
  const sentence = 'this is a directory. Put a file in its place, or correct the path that names it.';
  assert.deepEqual(said, [`config/limits.yaml: ${sentence}`, `openapi/items.yaml: ${sentence}`]);
});

test('a link to itself cannot be read, and the message has the reason', async () => {
  const said = await saidOf((directory) => {
    rmSync(join(directory, 'config/gateway.yaml'));
    symlinkSync('gateway.yaml', join(directory, 'config/gateway.yaml'));
  });
  assert.deepEqual(said, [
    'config/gateway.yaml: the file cannot be read (ELOOP). Create it, or correct the path that names it.',
  ]);
});

test('a file in place of a directory is called one', async () => {
  const config = await saidOf((directory) => {
    rmSync(join(directory, 'config'), { recursive: true });
    writeFileSync(join(directory, 'config'), '');
  });
  assert.equal(config.length, 1);
  assert.match(
    config[0] ?? '',
    /config: the configuration directory is a file\. Create it, or correct GATEWAY_CONFIG\.$/,
  );
  const contracts = await saidOf((directory) => {
    rmSync(join(directory, 'openapi'), { recursive: true });
    writeFileSync(join(directory, 'openapi'), '');
  });
  assert.match(
    contracts[0] ?? '',
    /^config\/upstreams\.yaml:3:17: .*is a file\. Create it, or correct GATEWAY_CONTRACTS\.$/,
  );
});
