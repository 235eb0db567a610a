// A start that would change a store so that the version before cannot open it any more says so and changes nothing, unless it is told to.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { lockDirectory } from '../../../gateway/shared/stores/sqlite.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type Fixture, restoreFixture } from '../../support/former/fixture.ts';
import { type ShopService, sendWrite, startShopService, writeShop } from '../../support/former/shop.ts';
import { runInProcess, startInProcess, tryStartInProcess } from '../../support/in-process.ts';

describe('a start on the embedded stores of 67ad2c9', () => {
  const directory = temporaryDirectory();
  const dataDirectory = join(directory, 'data');
  let service: ShopService;
  let fixture: Fixture;
  let environment: Record<string, string>;

  before(async () => {
    service = await startShopService();
    fixture = await restoreFixture('67ad2c9', { dataDirectory });
    environment = {
      ...writeShop(directory, service.url),
      GATEWAY_DATA: dataDirectory,
      ...{ HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0' },
    };
  });
  after(async () => {
    await service.close();
  });

  /** Bytes of every file, but for what SQLite makes to read one. */
  const bytes = () =>
    readdirSync(dataDirectory, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(db|sqlite)$|secrets\//.test(name))
      .sort()
      .map((name) => [name, readFileSync(join(dataDirectory, name)).toString('base64')]);

  function versionOfAnswers(): unknown {
    const database = new DatabaseSync(join(dataDirectory, 'idempotency.db'), { readOnly: true });
    const version = database.prepare('PRAGMA user_version').get()?.user_version;
    database.close();
    return version;
  }

  const names =
    /idempotency\.db: it has schema version 2, this gateway needs version 3, and then no earlier gateway opens it any more\. Back up .*, then start the gateway once with --accept-one-way\./;

  it('is refused, with file, reason and remedy, and nothing is changed', async () => {
    const found = bytes();
    const { started, code, stderr } = await tryStartInProcess(environment);
    await started?.stop();
    assert.equal(code, 1, stderr);
    assert.match(stderr, names);
    assert.deepEqual(bytes(), found);
  });

  it('is announced by check, which finds no mistake in the configuration', async () => {
    const { code, stdout, stderr } = await runInProcess(['check'], { environment });
    assert.equal(code, 0, stderr);
    assert.match(stdout, names);
    assert.equal(versionOfAnswers(), 2);
  });

  it('changes nothing while a gateway runs, even with --accept-one-way', async () => {
    const found = bytes();
    const release = lockDirectory(dataDirectory);
    const { code, stderr } = await tryStartInProcess(environment, ['--accept-one-way']);
    release();
    assert.equal(code, 1);
    assert.match(stderr, /Another gateway runs on the data directory/);
    assert.deepEqual(bytes(), found);
  });

  it('upgrades with --accept-one-way, and later starts do not need the option', async () => {
    for (const flags of [['--accept-one-way'], []]) {
      const gateway = await startInProcess(environment, flags);
      const { status, replayed } = await sendWrite(gateway.port, fixture.key('good'), 'item');
      await gateway.stop();
      assert.deepEqual([status, replayed, versionOfAnswers()], [201, true, 3]);
    }
  });
});
