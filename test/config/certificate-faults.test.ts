// Every fault of a certificate is named with file, line and remedy, before anything starts.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAuthority } from '../support/certificates.ts';
import { type Files, sentencesFor } from './faults.ts';

const authority = createAuthority();
const good = authority.issue({ names: ['api.test', '*.mail.test'] });
const other = authority.issue({ names: ['other.test'] });

const configured = (tls: string, publicUrl = 'https://api.test') => `publicUrl: ${publicUrl}\ntls:\n${tls}`;
const onePair = `  certificates:
    - certificate: api.pem
      key: api.key
`;

function filesWith(given: Files, gateway = configured(onePair)): Files {
  return { 'config/gateway.yaml': gateway, 'config/api.pem': good.certificate, 'config/api.key': good.key, ...given };
}

const HERE = 'config/gateway.yaml';
const PEM = 'Convert it to an unencrypted PEM file that only the gateway can read.';
const PATH = 'Create it, or correct the path, which is relative to the configuration directory.';
const faults: Readonly<Record<string, { readonly files: Files; readonly says: RegExp }>> = {
  'a file that is not there': {
    files: filesWith({ 'config/api.key': undefined }),
    says: new RegExp(`^${HERE}:5:12: tls.certificates.0.key: the file config/api.key does not exist. ${PATH}$`),
  },
  'a certificate that is none': {
    files: filesWith({ 'config/api.pem': 'nothing' }),
    says: new RegExp(`^${HERE}:4:20: tls.certificates.0.certificate: the file holds no certificate in PEM form. `),
  },
  'a key that is none': {
    files: filesWith({ 'config/api.key': good.certificate }),
    says: new RegExp(`^${HERE}:5:12: tls.certificates.0.key: the file holds no private key in PEM form. ${PEM}$`),
  },
  'a key of another certificate': {
    files: filesWith({ 'config/api.key': other.key }),
    says: new RegExp(`^${HERE}:5:12: tls.certificates.0.key: the key does not belong to the certificate. `),
  },
  'a name that it is not for': {
    files: filesWith({}, configured(`${onePair}      names: [api.test, x.mail.test, web.test]\n`)),
    says: new RegExp(
      `^${HERE}:6:7: tls.certificates.0.names: the certificate is not for "web.test". Remove the name, `,
    ),
  },
  'an address without TLS': {
    files: filesWith({}, configured(onePair, 'http://api.test')),
    says: new RegExp(`^${HERE}:1:12: publicUrl: with tls, clients use HTTPS, but "http://api.test" is not `),
  },
  'an old version': {
    files: filesWith({}, configured(`${onePair}  minVersion: TLSv1.1\n`)),
    says: new RegExp(`^${HERE}:6:15: tls.minVersion: "TLSv1.1" is not a possible value. Did you mean "TLSv1.2"\\?$`),
  },
};

describe('a fault of a certificate is reported', () => {
  for (const [name, { files, says }] of Object.entries(faults)) {
    test(name, async () => {
      const sentences = await sentencesFor({ files });
      assert.equal(sentences.length, 1);
      assert.match(sentences[0] ?? '', says);
    });
  }

  test('and a correct file has no fault', async () => {
    const names = `${onePair}      names: [api.test, x.mail.test, "*.mail.test"]\n`;
    assert.deepEqual(await sentencesFor({ files: filesWith({}, configured(names)) }), []);
  });

  test('nor where no address is set: the default one begins with https', async () => {
    assert.deepEqual(await sentencesFor({ files: filesWith({}, `tls:\n${onePair}`) }), []);
  });

  test('together with those of other files', async () => {
    const files = { ...filesWith({ 'config/api.pem': '' }), 'config/limits.yaml': 'tiers: 1\n' };
    assert.equal((await sentencesFor({ files })).length, 2);
  });
});
