// `certificates list` has the certificates in files, too: without `tls.acme`, they are all that there is.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createAuthority } from '../../support/certificates.ts';
import { writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { createInstallation } from '../../support/process.ts';
import { filesOf } from '../tls/secure-gateway.ts';

describe('certificates list without tls.acme', () => {
  let directory: string;
  let installation: ReturnType<typeof createInstallation>;
  before(() => {
    directory = temporaryDirectory();
    const authority = createAuthority();
    const { files, certificates } = filesOf({
      api: authority.issue({ names: ['api.test'], days: 80 }),
      mail: authority.issue({ names: ['mail.test', 'old.mail.test'], fromDays: -85, days: 5 }),
      gone: authority.issue({ names: ['gone.test'], fromDays: -30, days: -1 }),
    });
    writeConfiguration(directory, { gateway: { publicUrl: 'https://api.test', tls: { certificates } }, files });
    installation = createInstallation({ GATEWAY_CONFIG: join(directory, 'config') });
  });
  after(() => {
    installation.remove();
    rmSync(directory, { recursive: true });
  });

  it('shows names, file, state and expiry, and how to renew certificates that expire soon', async () => {
    const { code, stdout } = await installation.run('certificates', 'list');
    assert.equal(code, 0);
    const lines = stdout.trim().split('\n');
    assert.match(lines[0] ?? '', /^NAMES +FROM +STATE +EXPIRES/);
    assert.match(lines[1] ?? '', /^api\.test +\S*api\.pem +valid +20\S+Z \(79 d\)/);
    assert.match(lines[2] ?? '', /^mail\.test, old\.mail\.test +\S*mail\.pem +expiring +20\S+Z \(4 d\)/);
    assert.match(lines[3] ?? '', /^gone\.test +\S*gone\.pem +expired +20\S+Z +- +-$/);
    assert.match(
      lines[4] ?? '',
      /^mail\.test, old\.mail\.test: expiring\. The file is \S*mail\.pem: write the renewed/,
    );
    assert.match(lines[5] ?? '', /^gone\.test: expired\. /);
    assert.equal(lines.length, 6);
  });

  it('has the same as JSON', async () => {
    const { certificates } = JSON.parse((await installation.run('certificates', 'list', '--json')).stdout);
    assert.deepEqual(
      certificates.map(({ names, state }: { names: string[]; state: string }) => [names[0], state]),
      [
        ['api.test', 'valid'],
        ['mail.test', 'expiring'],
        ['gone.test', 'expired'],
      ],
    );
  });

  it('sends those who want to order one to the list', async () => {
    const { code, stderr } = await installation.run('certificates', 'order', 'mail.test');
    assert.equal(code, 1);
    assert.match(stderr, /no tls\.acme, so the gateway orders nothing\. `gateway certificates list` shows/);
  });
});

it('says that the gateway has no TLS', async () => {
  const directory = temporaryDirectory();
  writeConfiguration(directory, {});
  const installation = createInstallation({ GATEWAY_CONFIG: join(directory, 'config') });
  const { stdout } = await installation.run('certificates', 'list');
  assert.match(stdout, /^None: gateway\.yaml has no tls, so clients connect by plain HTTP\./);
  installation.remove();
  rmSync(directory, { recursive: true });
});
