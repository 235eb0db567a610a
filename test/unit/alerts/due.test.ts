// What a receiver is told, and when, over a time line of causes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noteOf } from '../../../gateway/alerts/message.ts';
import { afterCheck, afterDelivery, afterFailure, type Outbox } from '../../../gateway/alerts/outbox.ts';
import { reportOf } from '../../../gateway/alerts/report.ts';
import { alertSettings } from '../../../gateway/alerts/settings.ts';
import { effectText } from '../../../gateway/console/causes/effect.ts';
import type { Cause } from '../../../gateway/shared/contracts/cause.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

function createReceiver(settings: object = {}, receiver: object = {}) {
  const parsed = alertSettings.parse({
    receivers: { pager: { webhook: { url: 'http://pager.test', secret: 'key' }, ...receiver } },
    ...settings,
  });
  const { pager } = parsed.receivers;
  assert.ok(pager);
  let outbox: Outbox = { alerts: {} };
  let nowMs = 1_000_000_000_000;
  const silent = new Set<string>();
  const told: [seconds: number, text: string][] = [];
  const beganMs = nowMs;

  return {
    told,
    silent,
    settings: parsed,
    outbox: () => outbox,
    /** Looks every three seconds for a time, while these causes are there. */
    during(ms: number, causes: readonly Cause[], isAway = false) {
      for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 3 * SECOND) {
        outbox = afterCheck(outbox, {
          ...{ receiver: 'pager', settings: pager, causes, rules: parsed, nowMs },
          isSilent: (id) => silent.has(id),
          isDelegated: () => false,
          isEndDelegated: () => false,
          messageOf: (due) => ({
            ...{ id: `msg_${told.length}`, atMs: nowMs, gateway: 'http://gateway.test' },
            notes: due.map(({ id, state }) => ({ id, state }) as never),
          }),
        });
        const { sending } = outbox;
        if (sending === undefined || sending.nextMs > nowMs) continue;
        if (isAway) {
          outbox = afterFailure(outbox, 'it is away', nowMs, 0.5);
          continue;
        }
        const notes = sending.message.notes.map(({ id, state }) => `${state} ${id}`).join(', ');
        told.push([Math.round((nowMs - beganMs) / SECOND), notes]);
        outbox = afterDelivery(outbox, nowMs);
      }
    },
  };
}

const bad = (id: string): Cause => ({ id, kind: 'bad', cause: `${id} fails.`, consequence: '' });
const warn = (id: string): Cause => ({ ...bad(id), kind: 'warn' });

describe('a receiver', () => {
  it('gets a cause that lasts, and its end', () => {
    const { during, told } = createReceiver();
    during(MINUTE, [bad('redis')]);
    during(2 * MINUTE, []);
    assert.deepEqual(told, [
      [6, 'firing redis'],
      [87, 'resolved redis'],
    ]);
  });

  it('does not get a cause that ends before', () => {
    const { during, told, outbox } = createReceiver();
    for (let times = 0; times < 10; times += 1) {
      during(3 * SECOND, [bad('redis')]);
      during(2 * MINUTE, []);
    }
    assert.deepEqual(told, []);
    assert.deepEqual(outbox().alerts, {});
  });

  it('gets what happens together in one message, and the next one later', () => {
    const { during, told } = createReceiver();
    during(6 * SECOND, [bad('redis'), warn('slow a')]);
    during(MINUTE, [bad('redis'), warn('slow a'), bad('upstream orders live')]);
    assert.deepEqual(told, [
      [6, 'firing redis, firing slow a'],
      [21, 'firing upstream orders live'],
    ]);
  });

  it('gets a new failure at once after the end of another cause', () => {
    const { during, told } = createReceiver();
    during(MINUTE, [bad('redis')]);
    during(24 * SECOND, []);
    during(MINUTE, [bad('upstream orders live')]);
    assert.deepEqual(told, [
      [6, 'firing redis'],
      [87, 'resolved redis'],
      [90, 'firing upstream orders live'],
    ]);
  });

  it('gets a cause that lasts for hours again', () => {
    const { during, told } = createReceiver();
    during(9 * 60 * MINUTE, [bad('redis')]);
    assert.deepEqual(
      told.map(([seconds]) => Math.round(seconds / 3600)),
      [0, 4, 8],
    );
  });

  it('gets few messages about a cause that comes and goes', () => {
    const { during, told } = createReceiver();
    for (let times = 0; times < 60; times += 1) {
      during(20 * SECOND, [bad('redis')]);
      during(40 * SECOND, []);
    }
    // Without a bound: 120.
    assert.ok(told.length <= 4, JSON.stringify(told));
    during(60 * MINUTE, []);
    assert.equal(told.at(-1)?.[1], 'resolved redis');
  });

  it('is told of all times of a cause that returned before its end was told, with the final figures', () => {
    const { during, told, outbox } = createReceiver();
    const at = (second: number) => new Date(1_000_000_000_000 + second * SECOND).toISOString();
    const failing = (since: number, failed: number) => ({
      ...{ ...bad('upstream orders'), since: at(since), suffered: { requests: 2 * failed, failed } },
      effect: `${failed} failed`,
    });
    const over = (since: number, endedAt: number, failed: number) =>
      ({ ...failing(since, failed), kind: 'warn', hasRecovered: true, endedAt: at(endedAt) }) as const;
    during(12 * SECOND, [failing(0, 5)]);
    during(12 * SECOND, [over(0, 13, 7)]);
    during(12 * SECOND, [failing(24, 3)]);
    during(12 * SECOND, []);
    during(12 * SECOND, [failing(48, 20)]);
    during(6 * SECOND, []);
    // So soon, it is the same outage, which the console says.
    const pauses = { times: 1, ms: 5 * SECOND };
    during(12 * SECOND, [{ ...failing(48, 20), pauses }]);
    during(45 * SECOND, [{ ...over(48, 79, 22), pauses }]);
    assert.deepEqual(
      told.map(([, text]) => text),
      ['firing upstream orders', 'resolved upstream orders'],
    );
    const { since, until, consequence } = noteOf(
      'resolved',
      outbox().alerts['upstream orders'] as never,
      'http://console.test',
      effectText,
    );
    // The end of the second time is the last check that saw it, at 33 s.
    assert.deepEqual([since, until], [at(0), at(79)]);
    assert.equal(consequence, 'It lasted 4 times, 48 s in all; 32 of 64 requests failed.');
  });

  it('is told of another reason and of another runbook, at most once a minute', () => {
    const { during, told } = createReceiver();
    const failing = (reason: string, runbook = 'GatewayTargetDown') => ({ ...bad('upstream orders'), reason, runbook });
    during(30 * SECOND, [failing('status 504')]);
    during(60 * SECOND, [failing('status 500')]);
    for (let times = 0; times < 20; times += 1) {
      during(3 * SECOND, [failing('status 504')]);
      during(3 * SECOND, [failing('status 500')]);
    }
    during(120 * SECOND, [failing('status 500', 'GatewayUpstreamErrors')]);
    assert.deepEqual(
      told.map(([, text]) => text),
      Array(5).fill('firing upstream orders'),
    );
    assert.ok(told.every(([seconds], index) => index === 0 || seconds - (told[index - 1]?.[0] ?? 0) >= 60));
  });

  it('is not told late of the end of a cause that only flickered since its last end', () => {
    const { during, told } = createReceiver();
    during(MINUTE, [bad('redis')]);
    during(MINUTE, []);
    for (let times = 0; times < 10; times += 1) {
      during(3 * SECOND, [bad('redis')]);
      during(30 * SECOND, []);
    }
    during(MINUTE, [bad('redis')]);
    const endedMs = 510;
    during(10 * MINUTE, []);
    assert.deepEqual(told.slice(2), [
      [456, 'firing redis'],
      [endedMs + 57, 'resolved redis'],
    ]);
  });

  it('sees quiet causes with their times below causes that last; failures come first', () => {
    const { during, outbox, settings } = createReceiver();
    during(MINUTE, [bad('redis'), warn('slow a'), bad('loop')]);
    during(9 * SECOND, [warn('slow a'), bad('loop')]);
    const { alerts } = reportOf(settings, { pager: outbox() }, [], () => false);
    const timeOf = (seconds: number) => new Date(1_000_000_000_000 + seconds * SECOND).toISOString();
    assert.deepEqual(
      alerts.map(({ id, state, quiet_since: since, resolved_at: at }) => ({ id, state, since, at })),
      [
        { id: 'loop', state: 'firing', since: null, at: null },
        { id: 'slow a', state: 'firing', since: null, at: null },
        { id: 'redis', state: 'quiet', since: timeOf(57), at: timeOf(87) },
      ],
    );
    during(3 * SECOND, [bad('redis')]);
    const [again] = reportOf(settings, { pager: outbox() }, [], () => false).alerts;
    assert.deepEqual([again?.id, again?.state, again?.quiet_since], ['redis', 'firing', null]);
  });

  it('that is away is not told yet, and its last message is the last one that was delivered', () => {
    const { during, outbox, settings } = createReceiver({ repeatMinutes: 60 });
    const seen = () => {
      const { alerts, receivers } = reportOf(settings, { pager: outbox() }, [], () => false);
      return [alerts[0]?.told, receivers.pager?.last_message_at];
    };
    during(MINUTE, [bad('redis')], true);
    assert.deepEqual(seen(), [[], null]);
    during(5 * MINUTE, [bad('redis')]);
    const [told, at] = seen();
    assert.deepEqual(told, ['pager']);
    assert.ok(at);
    // The repeated message fails, but the receiver knows of the cause.
    during(90 * MINUTE, [bad('redis')], true);
    assert.deepEqual(seen(), [['pager'], at]);
  });

  it('reads that a cause whose instance has ended was over after the last request that suffered, as all lists say', () => {
    const { during, outbox, settings } = createReceiver();
    const lastAt = new Date(1_000_000_000_000 + 10 * SECOND).toISOString();
    during(MINUTE, [{ ...warn('organization a'), lastAt }]);
    during(9 * SECOND, []);
    const alert = outbox().alerts['organization a'] as never;
    assert.equal(noteOf('resolved', alert, 'http://console.test').until, lastAt);
    assert.equal(reportOf(settings, { pager: outbox() }, [], () => false).alerts[0]?.quiet_since, lastAt);
  });

  it('reads whose figures those of an end are, if the instances could not ask each other', () => {
    const { during, outbox } = createReceiver();
    during(MINUTE, [warn('organization a')]);
    const alone = { suffered: { requests: 182 }, effect: '181 of 182 requests were refused', instances: ['gw-1:8080'] };
    during(9 * SECOND, [{ ...warn('organization a'), ...alone, hasRecovered: true }]);
    const { instances } = noteOf('resolved', outbox().alerts['organization a'] as never, 'http://console.test');
    assert.deepEqual(instances, ['gw-1:8080']);
  });

  it('gets the severities and causes that it wants', () => {
    const { during, told } = createReceiver({}, { severities: ['failure'], causes: ['upstream *', 'redis'] });
    const all = [bad('upstream orders live'), warn('upstream files live'), bad('loop'), bad('redis'), bad('lifecycle')];
    during(30 * SECOND, [...all, bad('receiver pager')]);
    assert.deepEqual(told, [[6, 'firing upstream orders live, firing redis']]);
  });

  it('gets a warning that becomes a failure, and not the change back', () => {
    const { during, told } = createReceiver();
    during(MINUTE, [warn('certificate a')]);
    during(MINUTE, [bad('certificate a')]);
    during(MINUTE, [warn('certificate a')]);
    assert.deepEqual(told, [
      [6, 'firing certificate a'],
      [60, 'firing certificate a'],
    ]);
  });

  it('gets a silenced cause after the silence, but the end of an earlier cause at once', () => {
    const { during, told, silent } = createReceiver();
    during(MINUTE, [bad('redis')]);
    silent.add('redis').add('loop');
    during(MINUTE, [bad('redis'), bad('loop')]);
    during(MINUTE, []);
    assert.deepEqual(told.slice(1), [[147, 'resolved redis']]);
    during(MINUTE, [bad('loop')]);
    silent.clear();
    during(MINUTE, [bad('loop')]);
    assert.deepEqual(told.slice(2), [[240, 'firing loop']]);
  });

  it('that was away gets the causes that began and ended meanwhile', () => {
    const { during, told } = createReceiver();
    during(MINUTE, [bad('redis')], true);
    during(5 * MINUTE, [bad('loop')], true);
    during(5 * MINUTE, [], true);
    during(10 * MINUTE, []);
    assert.deepEqual(
      told.map(([, text]) => text),
      ['firing redis', 'firing loop, resolved redis, resolved loop'],
    );
  });

  it('that is away for days costs an attempt every few minutes, and is given up after a day', () => {
    const { during, outbox } = createReceiver({ repeatMinutes: 0 });
    during(10 * 60 * MINUTE, [bad('redis')], true);
    const attempts = outbox().sending?.attempts ?? 0;
    assert.ok(attempts > 100 && attempts < 140, String(attempts));
    during(15 * 60 * MINUTE, [bad('redis')], true);
    assert.equal(outbox().sending, undefined);
    assert.equal(outbox().failing?.reason, 'it is away');
  });

  it('keeps a bounded number of causes, and gets them in bounded messages', () => {
    const { during, told, outbox } = createReceiver();
    during(
      MINUTE,
      Array.from({ length: 2000 }, (_, index) => bad(`operation ${index}`)),
    );
    assert.equal(Object.keys(outbox().alerts).length, 500);
    assert.ok(told.every(([, text]) => text.split(', ').length <= 50));
    assert.equal(told.length, 4);
  });
});
