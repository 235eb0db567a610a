// What is due for a certificate, from the records.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type CertificateInUse, dueFor } from '../../../gateway/acme/due.ts';
import { change, type RecordKind, SERVER } from '../../../gateway/acme/records.ts';

const DAY = 86_400_000;
const NOW = 10 * DAY;
const held: CertificateInUse = {
  ...{ validFromMs: 0, expiresAtMs: 90 * DAY, issuedAtMs: 0, fingerprint: 'AA:BB' },
  ...{ certificateId: 'key.serial', isRevoked: false },
};

function records(...all: readonly (readonly [RecordKind, string, object])[]) {
  return new Map(
    all.flatMap(([kind, of, value]) => Object.entries(change(kind, of, value as never)) as [string, string][]),
  );
}

const asked = (kind: string) => ['asked', 'a.test', { kind, by: 'ada', atMs: 0 }] as const;
const attempts = (of: string, kind: string, nextAtMs: number) =>
  ['attempts', of, { failures: 1, kind, reason: '', atMs: 0, nextAtMs }] as const;
const renewal = ['renewal', 'a.test', { certificateId: 'key.serial', askAtMs: 15 * DAY }] as const;
const due = (all: ReadonlyMap<string, string>, one: CertificateInUse | undefined = held, at = NOW) =>
  dueFor('a.test', all, one, at);

it('an order without a certificate, for a revoked one, and for one that is to be renewed', () => {
  assert.equal(dueFor('a.test', records(), undefined, NOW), 'order');
  assert.equal(due(records(renewal)), undefined);
  assert.equal(due(records(renewal), { ...held, isRevoked: true }), 'order');
  assert.equal(due(records(renewal), held, 70 * DAY), 'order');
});

it('an order that was begun is continued', () => {
  const order = ['order', 'a.test', { url: 'u', account: 'a', key: 'k', atMs: 0 }] as const;
  assert.equal(due(records(renewal, order)), 'order');
});

it('nothing during the back-off, be it of the certificate or of the server', () => {
  for (const subject of ['a.test', SERVER]) {
    assert.equal(dueFor('a.test', records(attempts(subject, 'refused', NOW + 1)), undefined, NOW), undefined);
    assert.equal(dueFor('a.test', records(attempts(subject, 'refused', NOW)), undefined, NOW), 'order');
  }
});

it('no time is waited for that only a wrong clock can have written', () => {
  const years = NOW + 2000 * DAY;
  for (const kind of ['refused', 'server', 'limited']) {
    const all = records(attempts('a.test', kind, years), attempts(SERVER, kind, years));
    assert.equal(dueFor('a.test', all, undefined, NOW), 'order');
  }
  assert.equal(due(records(attempts('a.test', 'limited', years), asked('order'))), 'order');
  const neverAsked = ['renewal', 'a.test', { certificateId: 'key.serial', askAtMs: years }] as const;
  assert.equal(due(records(neverAsked)), 'read renewal');
  assert.equal(dueFor('a.test', records(attempts('a.test', 'limited', NOW + 7 * DAY)), undefined, NOW), undefined);
});

it('an operator does not wait for the back-off, but for a rate limit', () => {
  assert.equal(due(records(renewal, asked('order'), attempts('a.test', 'refused', NOW + 1))), 'order');
  assert.equal(due(records(renewal, asked('order'), attempts(SERVER, 'limited', NOW + 1))), undefined);
  const revocation = { certificate: 'PEM', by: 'ada', atMs: 0 };
  assert.equal(due(records(renewal, ['revocation', 'a.test', revocation])), 'revoke');
  assert.equal(due(records(renewal, ['revocation', 'a.test', { ...revocation, doneAtMs: 1 }])), undefined);
});

it('renewal information is asked for a new certificate, and again when it is time', () => {
  assert.equal(due(records()), 'read renewal');
  assert.equal(due(records(renewal), held, 21 * DAY), 'read renewal');
  assert.equal(due(records(renewal), { ...held, certificateId: 'key.other' }), 'read renewal');
  assert.equal(due(records(), { ...held, certificateId: undefined }), undefined);
});

it('the window of a former certificate does not count', () => {
  const window = { startMs: 0, endMs: 1, selectedMs: 1 };
  const former = ['renewal', 'a.test', { certificateId: 'key.former', window, askAtMs: 15 * DAY }] as const;
  assert.equal(due(records(former)), 'read renewal');
});
