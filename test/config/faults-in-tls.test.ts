// Faults of the certificates that upstreams.yaml names are reported with file, line and remedy, before anything starts.

import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { describe, it } from 'node:test';
import { readUpstreamTls, untimelyTls } from '../../gateway/config/upstreams/upstream-tls.ts';
import { createAuthority } from '../support/certificates.ts';
import { sentencesFor, sound } from './faults.ts';

const authority = createAuthority();
const pair = authority.issue({ names: ['gateway.test'] });
const other = authority.issue({ names: ['other.test'] });

/** The sound configuration with this `tls`, and these files in its directory. */
function sentences(tls: string, files: Record<string, string> = {}, address = 'https://items:3000'): Promise<string[]> {
  const upstreams = sound['config/upstreams.yaml'].replace('http://items:3000', address);
  const inConfig = Object.fromEntries(Object.entries(files).map(([name, text]) => [`config/${name}`, text]));
  return sentencesFor({ files: { 'config/upstreams.yaml': `${upstreams}    tls:\n${tls}`, ...inConfig } });
}

const both = '      certificate: own.pem\n      key: own.key\n';

describe('tls toward an upstream', () => {
  it('is fine with a certificate, its key and an authority', async () => {
    const files = { 'own.pem': pair.certificate, 'own.key': pair.key, 'ca.pem': authority.certificate };
    assert.deepEqual(await sentences(`      ca: ca.pem\n${both}`, files), []);
    const chain = { ...files, 'own.pem': `${pair.certificate}\n${authority.certificate}` };
    assert.deepEqual(await sentences(`      ca: ca.pem\n${both}`, chain), []);
  });

  it('names every file that is not there', async () => {
    const remedy = 'Create the file, or correct the path, which is relative to the configuration directory.';
    assert.deepEqual(await sentences(both, { 'own.key': pair.key }), [
      `config/upstreams.yaml:7:20: upstreams.items.tls.certificate: config/own.pem does not exist. ${remedy}`,
    ]);
    assert.equal((await sentences(`      ca: ca.pem\n${both}`)).length, 3);
  });

  it('names files that hold something else', async () => {
    const files = { 'own.pem': pair.key, 'own.key': pair.certificate };
    assert.deepEqual(await sentences(both, files), [
      'config/upstreams.yaml:7:20: upstreams.items.tls.certificate: this file holds no certificate in PEM. It must begin with -----BEGIN CERTIFICATE-----.',
      'config/upstreams.yaml:8:12: upstreams.items.tls.key: this is no private key in PEM that can be read without a password. Name the file with the private key of this certificate in PEM, not encrypted.',
    ]);
    const spoiled = authority.certificate.replace(/[A-Za-z]{8}\n/, '\n');
    assert.equal((await sentences('      ca: ca.pem\n', { 'ca.pem': spoiled })).length, 1);
  });

  it('refuses a key that does not fit, or needs a password', async () => {
    const refused = await sentences(both, { 'own.pem': pair.certificate, 'own.key': other.key });
    assert.match(refused.join(), /^config\/upstreams\.yaml:8:12: .*the key does not belong to the certificate\./);
    const locked = createPrivateKey(pair.key).export({
      type: 'pkcs8',
      format: 'pem',
      cipher: 'aes-256-cbc',
      passphrase: 'x',
    }) as string;
    assert.match(
      (await sentences(both, { 'own.pem': pair.certificate, 'own.key': locked })).join(),
      /without a password/,
    );
  });

  it('refuses half of a pair, and an upstream without https', async () => {
    const files = { 'own.pem': pair.certificate, 'own.key': pair.key };
    assert.deepEqual(await sentences('      certificate: own.pem\n', files), [
      'config/upstreams.yaml:7:20: upstreams.items.tls.certificate: there is no key to this certificate. Add "key: …" here, or remove both.',
    ]);
    assert.match((await sentences('      key: own.key\n', files)).join(), /there is no certificate to this key/);
    assert.deepEqual(await sentences(both, files, 'http://items:3000'), [
      'config/upstreams.yaml:6:5: upstreams.items.tls: none of the addresses of this upstream is https://. Write https:// there, or remove tls.',
    ]);
  });

  it('that is not valid now is worth a warning', () => {
    const expired = authority.issue({ names: ['old.test'], fromDays: -30, days: -1 });
    const early = authority.issue({ names: ['new.test'], fromDays: 2 });
    const read = (certificate: string) => new Map([['items', { certificate, files: [] }]]);
    const now = Date.now();
    assert.match(
      untimelyTls(read(expired.certificate), now).join(),
      /^upstreams\.items\.tls\.certificate: the certificate of CN=old\.test has expired on \d{4}-\d\d-\d\d\. Renew it\.$/,
    );
    assert.match(untimelyTls(read(early.certificate), now).join(), /is valid from \d{4}-\d\d-\d\d only\.$/);
    assert.deepEqual(untimelyTls(read(pair.certificate), now), []);
  });

  it('is not read for an entry without one', () => {
    const mistakes: never[] = [];
    assert.equal(
      readUpstreamTls({ items: { live: ['http://items'], servers: {} } }, '/', {} as never, mistakes).size,
      0,
    );
  });
});
