// `gateway contract publish` on a disk that is full, and after a publication that broke off: the promise stays whole, and each change is
// recorded once.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, beforeEach, describe, it } from 'node:test';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { executable } from '../../support/process.ts';
import { thingsContract } from '../../support/things.ts';
import { commandLine } from '../commands/command-line.ts';

type Paths = Record<string, Record<string, object>>;

/** Of `ulimit -f`, in bytes. */
const BLOCK = 512;

describe('a publication that breaks off', () => {
  let directory: string;
  let promise: string;
  let record: string;
  let first: { promise: string; record: string };
  const textOf = (file: string) => readFileSync(file, 'utf8');
  const recorded = () => textOf(record).trimEnd().split('\n').length;

  function write(change: (paths: Paths) => void = () => {}): void {
    const contract = structuredClone(thingsContract()) as { paths: Paths };
    change(contract.paths);
    const upstreams = { things: { contracts: ['things.json'], live: 'http://127.0.0.1:9' } };
    const gateway = { publishedContracts: 'published' };
    writeConfiguration(directory, { contracts: { 'things.json': contract }, upstreams, gateway });
  }

  /** Publishes in a process whose files may have so many blocks. */
  function publishWithin(blocks: number): Promise<string> {
    const limited = ['-c', `ulimit -f ${blocks}; exec "$0" contract publish`, executable];
    const env = { PATH: process.env.PATH ?? '', ...environmentOf(directory), GATEWAY_DATA: join(directory, 'data') };
    return new Promise((resolve, reject) => {
      execFile('sh', limited, { env }, (error, _, stderr) => {
        if (error === null) reject(new Error('the limit of the size of files had no effect'));
        else resolve(stderr);
      });
    });
  }

  async function publish(): Promise<void> {
    const { code, err } = await commandLine(join(directory, 'data'), environmentOf(directory)).run(
      'contract',
      'publish',
    );
    assert.equal(code, 0, err);
  }

  const oneMore = (paths: Paths) => {
    paths['/v1/more'] = { get: { ...paths['/v1/things']?.get, operationId: 'listMore' } };
  };

  before(async () => {
    directory = temporaryDirectory();
    const published = join(directory, 'openapi/published');
    mkdirSync(published, { recursive: true });
    [promise, record] = [join(published, 'v1.json'), join(published, 'changes.jsonl')];
    write();
    await publish();
    first = { promise: textOf(promise), record: textOf(record) };
    write(oneMore);
  });

  beforeEach(() => {
    writeFileSync(promise, first.promise);
    writeFileSync(record, first.record);
  });

  it('because the contract does not fit leaves the former one, and no record', async () => {
    const blocks = Math.floor(first.promise.length / BLOCK) - 1;
    assert.match(await publishWithin(blocks), /EFBIG/);
    assert.equal(textOf(promise), first.promise);
    assert.equal(textOf(record), first.record);
    assert.deepEqual(readdirSync(join(directory, 'openapi/published')).sort(), ['changes.jsonl', 'v1.json']);
    await publish();
    assert.equal(recorded(), 2);
  });

  it('because the record does not fit leaves the former contract: the next publication records the change', async () => {
    const { changes, ...entry } = JSON.parse(first.record) as { changes: object[] };
    const long = { ...entry, note: 'n'.repeat(2 * first.promise.length), changes };
    writeFileSync(record, `${JSON.stringify(long)}\n`);
    await publishWithin(Math.ceil((1.5 * first.promise.length) / BLOCK));
    assert.equal(textOf(promise), first.promise);
    await publish();
    assert.equal(recorded(), 2);
  });

  it('after its record is continued by the next one, which records nothing twice', async () => {
    await publish();
    const [whole, entries] = [textOf(promise), textOf(record)];
    writeFileSync(promise, first.promise);
    await publish();
    assert.equal(textOf(promise), whole);
    assert.equal(textOf(record), entries);
  });
});
