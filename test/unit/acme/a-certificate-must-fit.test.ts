// A certificate in use is never replaced by one that does not fit its names or its key.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { change, sealedAs } from '../../../gateway/acme/records.ts';
import { createSeal } from '../../../gateway/acme/seal.ts';
import { AcmeView } from '../../../gateway/acme/view.ts';
import { certificateOf } from '../../../gateway/edge/tls/certificate.ts';
import { createAuthority } from '../../support/certificates.ts';

const names = ['api.example.com', 'mail.example.com'];
const id = names.join();
const seal = createSeal('a secret of sixteen characters');
const authority = createAuthority();

/** The records of a store that holds this pair under the configured names. */
function recordsOf({ certificate, key }: { readonly certificate: string; readonly key: string }) {
  const record = { names, certificate, key: seal.seal(key, sealedAs(id)), directory: 'test', issuedAtMs: 1 };
  return new Map(Object.entries(change('certificate', id, record)) as [string, string][]);
}

const good = authority.issue({ names });
const other = authority.issue({ names: ['api.example.com'] });

for (const [what, bad, reason] of [
  ['another key', { ...good, key: other.key }, /key does not belong to the certificate/],
  ['a name too few', other, /mail\.example\.com/],
  ['no certificate', { ...good, certificate: 'nonsense' }, /cannot be used/],
] as const)
  it(`a stored certificate with ${what} leaves the one in use, and says why`, () => {
    const reasons: string[] = [];
    const onUnusable = (_id: string, says: string) => void reasons.push(says);
    const view = new AcmeView({ certificates: [names], seal, readPair: certificateOf, now: Date.now, onUnusable });
    assert.equal(view.use(recordsOf(good)), true);
    assert.equal(view.use(recordsOf(bad)), false);
    assert.deepEqual(
      view.shownCertificates().map(({ certificate }) => certificate),
      [good.certificate],
    );
    assert.equal(reasons.length, 1);
    assert.match(reasons[0] ?? '', reason);
  });
