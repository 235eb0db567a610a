// Faults of tls.acme are reported with file, line and remedy, before anything starts.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAuthority } from '../support/certificates.ts';
import { sentencesFor } from './faults.ts';

const authority = createAuthority();
const HERE = 'config/gateway\\.yaml';
const head = 'publicUrl: https://api.test\ntls:\n  acme:\n';
const sound = {
  directory: 'letsencrypt',
  termsOfServiceAgreed: 'true',
  certificates: '[[api.test, mail.test], [jmap.test]]',
};

/** The mistakes with these members instead of the correct ones. `more` is added beside `acme`. */
function mistakes(members: Readonly<Record<string, string>>, more = '', files: Record<string, string> = {}) {
  const lines = Object.entries({ ...sound, ...members }).map(([name, value]) => `    ${name}: ${value}\n`);
  return sentencesFor({ files: { 'config/gateway.yaml': `${head}${lines.join('')}${more}`, ...files } });
}

const faults: Readonly<Record<string, [Record<string, string>, RegExp]>> = {
  'a directory that is no address': [
    { directory: 'lets' },
    /:4:16: tls\.acme\.directory: "lets" is not possible here\. It must be letsencrypt, letsencr/,
  ],
  'a directory without encryption': [
    { directory: 'http://acme.test/dir' },
    /:4:16: tls\.acme\.directory: .* It must be /,
  ],
  'terms that are not agreed to': [
    { termsOfServiceAgreed: 'false' },
    /:5:27: tls\.acme\.termsOfServiceAgreed: .*ust be true/,
  ],
  'a wildcard': [{ certificates: '[["*.test"]]' }, /:6:21: .*a wildcard needs a DNS challenge/],
  'an address': [{ certificates: '[[192.0.2.1]]' }, /:6:21: .*must be a host name in lower case/],
  'a name in capitals': [{ certificates: '[[API.test]]' }, /:6:21: .*must be a host name in lower case/],
  'a name in two lists': [{ certificates: '[[a.test], [b.test, a.test]]' }, /:6:39: .*must be in one list, and once/],
  'no names': [{ certificates: '[[]]' }, /:6:20: .*must list at least one name/],
  'no certificates': [{ certificates: '[]' }, /:6:5: .*must list the names of at least one certificate/],
  'a contact that is no address': [{ contacts: '[ops]' }, /:7:16: .*must be an email address/],
  'http-01 without a plain listener': [
    { challenge: 'http-01' },
    /:7:16: .*answered by the plain listener, and there is none/,
  ],
  'authorities that are not there': [
    { trust: 'ca.pem' },
    /:7:12: tls\.acme\.trust: the file config\S*\/ca\.pem does not exist/,
  ],
};

describe('a fault of tls.acme is reported', () => {
  for (const [name, [members, says]] of Object.entries(faults)) {
    it(name, async () => {
      const sentences = await mistakes(members);
      assert.equal(sentences.length, 1, sentences.join('\n'));
      assert.match(sentences[0] ?? '', says);
      assert.match(sentences[0] ?? '', new RegExp(`^${HERE}:`));
    });
  }

  it('a name that a certificate in files has', async () => {
    const pair = authority.issue({ names: ['mail.test'] });
    const files = { 'config/mail.pem': pair.certificate, 'config/mail.key': pair.key };
    const more = '  certificates: [{ certificate: mail.pem, key: mail.key }]\n';
    const sentences = await mistakes({}, more, files);
    assert.match(sentences.join(), /:6:31: .*a certificate under tls\.certificates is for "mail\.test" already\./);
  });

  it('tls without any certificate', async () => {
    const files = { 'config/gateway.yaml': 'publicUrl: https://api.test\ntls: { minVersion: TLSv1.3 }\n' };
    assert.match((await sentencesFor({ files })).join(), /:2:1: tls: there is no certificate to show\. Add acme, or /);
  });

  it('and a correct file has no fault', async () => {
    const files = { 'config/ca.pem': authority.certificate };
    const all = { trust: 'ca.pem', contacts: '[ops@example.com]', challenge: 'http-01' };
    const account = { externalAccount: '{ keyId: kid, secret: acme_hmac }', directory: 'https://acme.test:14000/dir' };
    assert.deepEqual(await mistakes({ ...all, ...account }, '  plain: { port: 8081 }\n', files), []);
  });
});
