// A certificate that is not valid now: `check` refuses it with file and line, a gateway that has no other starts with it and reports it.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { createAuthority } from '../../support/certificates.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { writeConfiguration } from '../../support/configuration.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { createInstallation } from '../../support/process.ts';
import { filesOf, startSecureGateway } from './secure-gateway.ts';

const start = closesAfterEach();
const authority = createAuthority();
const expired = { names: ['api.test'], fromDays: -30, days: -1 };

it('is a mistake for check', async () => {
  const directory = temporaryDirectory();
  const { files, certificates } = filesOf({ api: authority.issue(expired) });
  writeConfiguration(directory, { gateway: { publicUrl: 'https://api.test', tls: { certificates } }, files });
  const installation = createInstallation({ GATEWAY_CONFIG: join(directory, 'config') });
  const { code, stderr } = await installation.run('check');
  assert.equal(code, 1);
  assert.match(
    stderr,
    /gateway\.yaml:6:24: tls\.certificates\.0\.certificate: the certificate expired at .* Renew it\./,
  );
  installation.remove();
  rmSync(directory, { recursive: true });
});

it('starts, is shown, and is reported as an error', async () => {
  const secure = await start(startSecureGateway({ pairs: (own) => ({ api: own.issue(expired) }) }));
  assert.equal(await secure.shownTo('api.test'), 'api.test');
  await assert.rejects(secure.connect(), /expired/);
  const line = secure.gateway.logLines().find(({ msg }) => msg === 'a certificate has expired');
  assert.equal(line?.level, 50);
  assert.ok(Number(line?.days_left) < 0);
});
