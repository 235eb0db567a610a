// When a certificate is renewed, and when a failed order is repeated.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryAfterMsOf } from '../../../gateway/acme/acme-client.ts';
import { nextAttemptAfterMs } from '../../../gateway/acme/back-off.ts';
import { askAgainAfterMs, renewAtMs, selectMoment } from '../../../gateway/acme/renewal.ts';
import { stateOfLife, warnBeforeMs } from '../../../gateway/shared/certificate-life.ts';

const DAY = 86_400_000;
const lifeOf = (days: number) => ({ validFromMs: 0, expiresAtMs: days * DAY });

describe('a certificate is renewed', () => {
  for (const days of [90, 45, 6]) {
    it(`after two thirds of ${days} days, a little apart from others`, () => {
      assert.equal(renewAtMs(lifeOf(days), 0, undefined, 0), Math.round((days * DAY * 2) / 3));
      assert.equal(renewAtMs(lifeOf(days), 0, undefined, 1), Math.round(days * DAY * 0.7));
    });
  }

  it('at the moment of the window that the server suggests, but not too late', () => {
    const window = { startMs: 10 * DAY, endMs: 12 * DAY, selectedMs: 11 * DAY };
    assert.equal(renewAtMs(lifeOf(90), 0, window, 0.5), 11 * DAY);
    const late = { startMs: 100 * DAY, endMs: 120 * DAY, selectedMs: 110 * DAY };
    assert.equal(renewAtMs(lifeOf(90), 0, late, 0.5), Math.round(90 * DAY * 0.95));
  });

  it('not right after it was issued, even by a wrong window or a wrong clock', () => {
    const past = { startMs: -2 * DAY, endMs: -DAY, selectedMs: -DAY };
    assert.equal(renewAtMs(lifeOf(90), 5000, past, 0), 5000 + DAY);
    assert.equal(renewAtMs(lifeOf(6), 5 * DAY, undefined, 0), 5 * DAY + (6 * DAY) / 24);
  });

  it('at one moment of a window, however often the window is read', () => {
    const given = { start: '2026-01-01T00:00:00Z', end: '2026-01-03T00:00:00Z' };
    const first = selectMoment(given, undefined, () => 0.5);
    assert.equal(first?.selectedMs, Date.parse('2026-01-02T00:00:00Z'));
    assert.equal(
      selectMoment(given, first, () => 0.9),
      first,
    );
    const other = selectMoment({ ...given, end: '2026-01-02T00:00:00Z' }, first, () => 1);
    assert.equal(other?.selectedMs, Date.parse('2026-01-02T00:00:00Z'));
    assert.equal(
      selectMoment({ start: given.end, end: given.start }, first, () => 0),
      undefined,
    );
    assert.equal(
      selectMoment({ start: 'x', end: 'y' }, first, () => 0),
      undefined,
    );
  });

  it('after renewal information was asked for as often as the server wants, within bounds', () => {
    assert.deepEqual([undefined, 0, 7_200_000, 10 * DAY].map(askAgainAfterMs), [21_600_000, 60_000, 7_200_000, DAY]);
  });
});

describe('a failed order is repeated', () => {
  const after = (kind: 'server' | 'refused' | 'limited', failures: number, retryAfterMs?: number) =>
    nextAttemptAfterMs({ kind, failures, retryAfterMs, random: () => 0 });

  it('ever later, up to a bound', () => {
    assert.deepEqual(
      [1, 2, 3, 40].map((failures) => after('server', failures)),
      [30_000, 60_000, 120_000, 3_600_000],
    );
    assert.equal(after('refused', 99), 43_200_000);
  });

  it('fewer than five times in an hour, if the server refuses it', () => {
    let atMs = 0;
    let attempts = 0;
    for (; atMs < 3_600_000; attempts++) atMs += after('refused', attempts + 1);
    assert.ok(attempts <= 5, `${attempts}`);
  });

  it('not before Retry-After, and after an hour if a rate limit has none', () => {
    assert.equal(after('server', 1, 600_000), 600_000);
    assert.equal(after('limited', 1), 3_600_000);
    assert.equal(after('limited', 1, 7 * DAY), 7 * DAY);
  });

  it('with Retry-After in seconds or as a date', () => {
    assert.equal(retryAfterMsOf('120', 0), 120_000);
    assert.equal(retryAfterMsOf('Thu, 01 Jan 1970 00:01:00 GMT', 1000), 59_000);
    assert.deepEqual(
      [undefined, 'soon', ''].map((text) => retryAfterMsOf(text, 0)),
      [undefined, undefined, undefined],
    );
  });
});

it('a certificate is warned of when a sixth of its lifetime is left, and 30 days at most', () => {
  assert.deepEqual(
    [398, 90, 6].map((days) => warnBeforeMs(lifeOf(days)) / DAY),
    [30, 15, 1],
  );
  assert.deepEqual(
    [0, 4.5, 5.1, 6].map((days) => stateOfLife(lifeOf(6), days * DAY)),
    ['valid', 'valid', 'expiring', 'expired'],
  );
});
