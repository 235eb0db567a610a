// OpenSSL reads the certificate requests and the certificates for challenges that the gateway writes.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { it } from 'node:test';
import { createSecureContext } from 'node:tls';
import { certificateIdOf } from '../../../gateway/acme/certificate-id.ts';
import { readDer } from '../../../gateway/acme/der.ts';
import { createChallengeCertificate, createRequest } from '../../../gateway/acme/x509.ts';
import { createAuthority } from '../../support/certificates.ts';

const authority = createAuthority();
const openssl = (input: string | Buffer, ...args: string[]) => execFileSync('openssl', args, { input, stdio: 'pipe' });

it('a request has all names, and the key has signed it', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = Array.from({ length: 40 }, (_, index) => `name-${index}.example.test`);
  const text = String(openssl(createRequest(names, privateKey), 'req', '-inform', 'der', '-noout', '-text', '-verify'));
  for (const name of names) assert.ok(text.includes(`DNS:${name}`));
  assert.match(text, /NIST CURVE: P-256/);
});

it('the certificate for a challenge holds the digest of the key authorization in a critical extension', () => {
  const { certificate, key } = createChallengeCertificate('a.test', 'token.thumbprint', Date.now());
  const parsed = new X509Certificate(certificate);
  assert.equal(parsed.subjectAltName, 'DNS:a.test');
  assert.ok(parsed.verify(parsed.publicKey));
  assert.match(key, /BEGIN PRIVATE KEY/);
  const text = String(openssl(certificate, 'x509', '-noout', '-text'));
  assert.match(text, /1\.3\.6\.1\.5\.5\.7\.1\.31: critical/);
  const digest = createHash('sha256').update('token.thumbprint').digest();
  assert.ok(parsed.raw.includes(Buffer.concat([Buffer.from([0x04, 0x20]), digest])));
});

it('the certificate for a challenge can be used for names of any length', () => {
  for (let length = 1; length <= 63; length++) {
    const { certificate: cert, key } = createChallengeCertificate(
      `${'a'.repeat(length)}.test`,
      'token.thumb',
      Date.now(),
    );
    assert.doesNotThrow(() => createSecureContext({ cert, key }), `${length}`);
  }
});

it('the identifier of a certificate follows RFC 9773', () => {
  // The example of section 4.1.
  const example = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----
`;
  assert.equal(certificateIdOf(example), 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
  assert.equal(certificateIdOf(authority.issue({ names: ['a.test'] }).certificate)?.includes('.') ?? true, true);
  assert.equal(certificateIdOf('broken'), undefined);
});

it('a value that ends too early is refused', () => {
  assert.throws(() => readDer(Buffer.from([0x30, 0x05, 0x01])), RangeError);
});
