// The credential for an upstream and its concurrency change with the file like all other settings.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { headersOf } from '../../support/scripted-upstream.ts';
import { thingsAt } from '../../support/things.ts';
import { createWorld, type World } from '../../support/world.ts';
import { inForce, saveAndReload, save as saveFile, until } from './files.ts';

describe('the credential for an upstream', () => {
  let world: World;
  let secrets: string;
  before(async () => {
    secrets = temporaryDirectory();
    writeFileSync(join(secrets, 'first_entry'), 'admin:of the first entry');
    writeFileSync(join(secrets, 'second_entry'), 'admin:of the second entry');
    world = await createWorld({ environment: { SECRETS_DIR: secrets } });
  });
  after(async () => {
    await world.close();
  });

  const save = (entry: object) => {
    const { upstreams } = thingsAt(world.upstream.url, entry);
    return saveAndReload(world.gateway, 'config/upstreams.yaml', { upstreams });
  };
  const withSecret = (secret: string) => ({ credential: { basic: { user: 'admin', secret } } });

  /** The credential of the latest request at the upstream. */
  async function shown(): Promise<string | undefined> {
    assert.equal((await world.call('GET /v1/things')).status, 200);
    return headersOf(world.upstream.received.at(-1) as string).get('authorization');
  }
  const basic = (password: string) => `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`;

  it('is shown from the first request on after it was added, changed, and no more once it is gone', async () => {
    assert.equal(await shown(), undefined);
    await save(withSecret('first_entry'));
    assert.equal(await shown(), basic('of the first entry'));
    await save(withSecret('second_entry'));
    assert.equal(await shown(), basic('of the second entry'));
    await save({});
    assert.equal(await shown(), undefined);
  });

  it('must be there: an entry without its secret changes nothing', async () => {
    await save(withSecret('third_entry'));
    await until(async () => (await inForce(world.gateway)).last_failure !== null);
    const [mistake] = (await inForce(world.gateway)).last_failure?.mistakes ?? [];
    assert.match(
      mistake ?? '',
      /upstreams\.yaml:1:\d+: upstreams\.things\.credential\.basic\.secret: there is no secrets entry "third_entry"/,
    );
    assert.equal(await shown(), undefined);
  });

  it('must have its form: an entry with half a login changes nothing', async () => {
    writeFileSync(join(secrets, 'half_entry'), 'admin:');
    await save(withSecret('half_entry'));
    const mistakeOf = async () =>
      (await inForce(world.gateway)).last_failure?.mistakes.find((text) => text.includes('half_entry')) ?? '';
    await until(async () => (await mistakeOf()) !== '');
    assert.match(
      await mistakeOf(),
      /credential\.basic\.secret: the secrets entry "half_entry" cannot be used: it must hold one line with user:password/,
    );
    assert.equal(await shown(), undefined);
  });

  it('is in force as soon as the missing secret exists, after a refused reload', async () => {
    // Noticed, not triggered: a second look at the same file must not be what finds the secret.
    const { upstreams } = thingsAt(world.upstream.url, withSecret('late_entry'));
    saveFile(world.gateway, 'config/upstreams.yaml', { upstreams });
    await until(async () => (await inForce(world.gateway)).last_failure?.mistakes[0]?.includes('late_entry') === true);
    writeFileSync(join(secrets, 'late_entry'), 'admin:of the late entry');
    await until(async () => (await inForce(world.gateway)).last_failure === null);
    assert.equal(await shown(), basic('of the late entry'));
  });
});
