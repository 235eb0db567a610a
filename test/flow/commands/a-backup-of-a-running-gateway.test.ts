// `deploy/backup-data` copies the data directory of a gateway that runs, and the copy in its place is the gateway as it was.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createSqliteAcmeStore } from '../../../gateway/acme/sqlite-acme-store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { thingsAt } from '../../support/things.ts';
import { type FakeUpstream, startUpstream } from '../../support/upstream.ts';

const shell = promisify(execFile);
const script = fileURLToPath(new URL('../../../deploy/backup-data', import.meta.url));

describe('a backup of the data directory', () => {
  const directory = temporaryDirectory();
  const dataDirectory = join(directory, 'data');
  const copy = join(directory, 'copy');
  let upstream: FakeUpstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(async () => {
    await upstream.close();
  });

  const start = () => startGateway({ ...thingsAt(upstream.url), dataDirectory });
  const openCertificates = () => createSqliteAcmeStore({ directory: dataDirectory, now: Date.now });
  const statusWith = async ({ url }: TestGateway, authorization: string) =>
    (await fetch(`${url}/v1/things`, { headers: { authorization } })).status;

  it('is taken while the gateway runs, and restores the records', async (test) => {
    const running = await start();
    const before = (await running.authorize()).authorization;
    const certificates = openCertificates();
    test.after(certificates.close);
    certificates.put({ account: 'kept' });
    await shell(script, [dataDirectory, copy]);
    const later = (await running.authorize()).authorization;
    assert.equal(await statusWith(running, later), 200);
    await running.stop();

    assert.ok(existsSync(join(copy, 'secrets/key_pepper')));
    assert.equal(statSync(join(copy, 'gateway.db')).mode & 0o077, 0, 'only the owner may read it');
    renameSync(dataDirectory, join(directory, 'lost'));
    renameSync(copy, dataDirectory);
    const again = await start();
    try {
      assert.equal(await statusWith(again, before), 200);
      assert.equal(await statusWith(again, later), 401, 'a key made after the copy is not in it');
      const restored = openCertificates();
      assert.equal((await restored.read()).get('account'), 'kept');
      restored.close();
    } finally {
      await again.stop();
    }
  });

  it('is never written over another one', async () => {
    await assert.rejects(shell(script, [dataDirectory, dataDirectory]), /File exists/);
    await assert.rejects(shell(script, []), /usage: deploy\/backup-data/);
  });
});
