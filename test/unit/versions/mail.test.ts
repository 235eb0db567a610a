// Notices as mail: well-formed messages for any name and contacts of an organization.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Organization } from '../../../gateway/exchange/caller.ts';
import type { Deprecation } from '../../../gateway/versions/deprecation.ts';
import { isAddress, mailboxOf, messageOf } from '../../../gateway/versions/mail.ts';
import { noticesOf } from '../../../gateway/versions/notices.ts';
import { affectedBy } from '../../../gateway/versions/report.ts';

const sender = { from: 'api@example.com', atMs: Date.parse('2027-06-01T12:00:00Z') };
const life = {
  operation: { id: 'listJobs', method: 'GET', path: '/v1/jobs', version: 'v1' },
  deprecated: '2027-01-15',
  sunset: '2028-01-17',
  successor: 'v2',
  guide: 'https://docs.example.com/v2',
} as unknown as Deprecation;

function noticeFor(name: string, contacts: readonly string[]) {
  const organization: Organization = {
    id: 'org_a',
    name,
    tier: 'standard',
    state: 'active',
    contacts,
    operator: false,
  };
  const uses = [
    { day: '2027-05-30', organization: 'org_a', operation: 'listJobs', calls: 40, lastAtMs: 1_811_000_000_000 },
    { day: '2027-05-31', organization: 'org_a', operation: 'listJobs', calls: 2, lastAtMs: 1_811_100_000_000 },
    { day: '2027-05-31', organization: 'org_a', operation: 'not deprecated any more', calls: 9, lastAtMs: 1 },
  ];
  const [notice] = noticesOf(affectedBy(uses, [life], [organization]), '2027-03-03', 'https://api.example.com');
  if (notice === undefined) throw new Error('no notice');
  return notice;
}

function parsed(message: string) {
  const [head = '', body = ''] = message.split('\r\n\r\n');
  const names = head.split(/\r\n(?! )/).map((line) => line.split(':')[0]);
  return { head, names, text: Buffer.from(body, 'base64').toString('utf8') };
}

const NAMES = ['Date', 'From', 'To', 'Subject', 'Message-ID', 'Auto-Submitted', 'MIME-Version', 'Content-Type'];

describe('a notice as mail', () => {
  it('lists operations, counts, dates and where to read on', () => {
    const { head, names, text } = parsed(
      messageOf(noticeFor('Acme', ['dev@acme.example', 'ops@acme.example']), sender) ?? '',
    );
    assert.deepEqual(names, [...NAMES, 'Content-Transfer-Encoding']);
    assert.match(head, /^Date: Tue, 01 Jun 2027 12:00:00 \+0000\r\n/);
    assert.match(head, /\r\nTo: dev@acme\.example,\r\n ops@acme\.example\r\n/);
    assert.match(
      head,
      /\r\nSubject: Deprecated API operations in use at api\.example\.com: the first ends on 2028-01-17\r\n/,
    );
    assert.match(text, /GET \/v1\/jobs\r\n {4}deprecated on 2027-01-15, answered with 410 from 2028-01-17 on\r\n/);
    assert.match(text, /42 calls, the last at 2027-05-23T/);
    assert.match(text, /https:\/\/docs\.example\.com\/v2/);
  });

  it('has no line of more than 78 characters in its body, and is ASCII throughout', () => {
    const message = messageOf(noticeFor('Ünïcode 🏨 '.repeat(40), ['dev@acme.example']), sender) ?? '';
    assert.match(message, /^[\r\n -~]*$/);
    for (const line of message.split('\r\n')) assert.ok(line.length <= 120, line);
    assert.match(parsed(message).text, /Ünïcode 🏨/);
  });

  it('gets no header from the name of an organization', () => {
    const hostile = 'Acme\r\nBcc: everybody@example.com\r\n\r\n<script>\u2028x';
    const message = messageOf(noticeFor(hostile, ['dev@acme.example']), sender) ?? '';
    assert.deepEqual(parsed(message).names, [...NAMES, 'Content-Transfer-Encoding']);
    assert.match(parsed(message).text, /Acme Bcc: everybody@example\.com <script> x \(org_a\)/);
  });

  it('goes to addresses only', () => {
    const bad = [
      'a@b\r\nBcc: c@d',
      'a b@c.d',
      '<a@b.c>',
      'a@b.c,d@e.f',
      '@b.c',
      'a@',
      'ä@b.c',
      'a@-b.c',
      `${'a'.repeat(260)}@b.c`,
    ];
    for (const address of bad) assert.equal(isAddress(address), false, address);
    assert.equal(messageOf(noticeFor('Acme', bad), sender), undefined);
    for (const address of ['a@b', "o'neill+x@mail.example.com"]) assert.equal(isAddress(address), true, address);
  });

  it('is the same message when it is written again', () => {
    const [one, other] = [1, 2].map(() => messageOf(noticeFor('Acme', ['dev@acme.example']), sender));
    assert.equal(one, other);
  });

  it('can stand in a mailbox with others', () => {
    const message = messageOf(noticeFor('Acme', ['dev@acme.example']), sender) ?? '';
    const mailbox = mailboxOf([message, message], sender);
    const starts = mailbox.match(/^From .*$/gm);
    assert.deepEqual(starts, Array(2).fill('From api@example.com Tue Jun 01 12:00:00 2027'));
    assert.doesNotMatch(mailbox, /\r/);
  });
});
