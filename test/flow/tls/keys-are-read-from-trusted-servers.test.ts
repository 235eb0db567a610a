// Keys and tokens are read from servers whose authority Node knows, or that NODE_EXTRA_CA_CERTS names.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { boundedFetch } from '../../../gateway/shared/http/bounded-fetch.ts';
import { createAuthority } from '../../support/certificates.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const start = closesAfterEach();

it('a server of an authority of your own is trusted if NODE_EXTRA_CA_CERTS names the authority', async () => {
  const authority = createAuthority();
  const { certificate: cert, key } = authority.issue({ names: ['localhost'] });
  const server = await start(createServer({ cert, key }, (_request, response) => response.end('keys')));
  await once(server.listen(0, 'localhost'), 'listening');
  const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const options = { timeoutMs: 5000, bytesMax: 100, faultOf: () => undefined };
  await assert.rejects(boundedFetch(url, options), { message: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });

  const file = join(temporaryDirectory(), 'authority.pem');
  writeFileSync(file, authority.certificate);
  const program = `const { boundedFetch } = await import(${JSON.stringify(import.meta.resolve('../../../gateway/shared/http/bounded-fetch.ts'))});
    const { body } = await boundedFetch('${url}', { timeoutMs: 5000, bytesMax: 100, faultOf: () => undefined });
    process.stdout.write(body);`;
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: file };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env });
  assert.equal(stdout, 'keys');
});
