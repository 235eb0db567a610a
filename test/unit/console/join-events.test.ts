import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinEvents, listedEvents } from '../../../gateway/console/feed/join-events.ts';
import type { GatewayEvent } from '../../../gateway/console/history/gateway-event.ts';

const at = (second: number) => new Date(second * 1000).toISOString();
const outage = (from: number, until: number | null, text = 'Redis is away.'): GatewayEvent => ({
  ...{ kind: 'outage', at: at(from), until: until === null ? null : at(until), text },
});

test('an outage that several instances saw is told once, from its first to its last moment', () => {
  const start: GatewayEvent = { kind: 'start', at: at(1), until: at(1), text: 'The gateway started.' };
  const joined = joinEvents([
    { name: 'a:1', events: [start, outage(10, 20), outage(50, 60)] },
    { name: 'b:1', events: [start, outage(12, 25), outage(55, null), outage(56, 57, 'Another one.')] },
  ]);
  assert.deepEqual(
    joined.map(({ text, until, instance }) => [text, until, instance]),
    [
      ['The gateway started.', at(1), 'a:1, b:1'],
      ['Redis is away.', at(25), 'a:1, b:1'],
      ['Redis is away.', null, 'a:1, b:1'],
      ['Another one.', at(57), 'b:1'],
    ],
  );
});

test('a time is marked as not counted only if no instance counted', () => {
  const gap = (from: number, until: number): GatewayEvent => ({
    ...outage(from, until, 'Not counted.'),
    kind: 'uncounted',
  });
  const gapsIn = (...all: GatewayEvent[][]) =>
    joinEvents(all.map((events, index) => ({ name: `${'ab'[index]}:1`, events }))).map(({ at, until }) => [at, until]);
  assert.deepEqual(gapsIn([gap(10, 50)], []), []);
  assert.deepEqual(gapsIn([gap(10, 50), gap(60, 70)], [gap(30, 65)]), [
    [at(30), at(50)],
    [at(60), at(65)],
  ]);
});

test('a reload that reached several instances is told once, and a second one of an instance again', () => {
  const reload = (second: number): GatewayEvent => ({
    ...{ kind: 'reload', at: at(second), until: at(second), text: 'limits.yaml changed.' },
  });
  const joined = joinEvents([
    { name: 'a:1', events: [reload(10), reload(100), reload(2000)] },
    { name: 'b:1', events: [reload(40), reload(102)] },
  ]);
  assert.deepEqual(
    joined.map((event) => [event.at, event.until, event.instance]),
    [
      [at(10), at(10), 'a:1, b:1'],
      [at(100), at(100), 'a:1, b:1'],
      [at(2000), at(2000), 'a:1'],
    ],
  );
});

test('an outage that comes and goes is one line, which says how often it came and how many requests suffered', () => {
  const flicker = (second: number, failed: number) => ({
    ...outage(second, second + 5, 'GET /a fails.'),
    figures: { requests: 100, failed },
  });
  const joined = joinEvents([
    { name: 'a:1', events: [flicker(0, 1), flicker(60, 2), flicker(120, 3), flicker(1000, 5)] },
    { name: 'b:1', events: [flicker(2, 10), flicker(62, 20), flicker(122, 30), flicker(1002, 50)] },
  ]);
  assert.deepEqual(
    joined.map(({ figures }) => figures?.failed),
    [11, 22, 33, 55],
  );
  // Alerts have told the first end. After a return they wait twice as long before they tell the next one.
  assert.deepEqual(
    listedEvents(joined).map(({ at: began, until, text }) => [began, until, text]),
    [
      [at(0), at(7), 'GET /a fails. (11 of 200 requests failed)'],
      [at(60), at(127), 'GET /a fails. (2 times, 55 of 400 requests failed)'],
      [at(1000), at(1007), 'GET /a fails. (55 of 200 requests failed)'],
    ],
  );
  const lasting = listedEvents([outage(0, 5), { ...outage(20, null), figures: { requests: 9, server_errors: 4 } }]);
  assert.deepEqual(
    lasting.map(({ until, text }) => [until, text]),
    [[null, 'Redis is away. (2 times, 4 of 9 responses with 5xx)']],
  );
});

test('an outage that came twice came twice for several instances, also if one of them saw no end or a warning beside it', () => {
  const about = { topic: 'redis' } as const;
  const twice = { about, pauses: { times: 1, ms: 5000 } };
  const joined = joinEvents([
    {
      name: 'a:1',
      events: [
        { ...outage(10, 30), about },
        { ...outage(11, 31), kind: 'warning', ...twice },
      ],
    },
    { name: 'b:1', events: [{ ...outage(11, 32), ...twice }] },
  ]);
  assert.deepEqual(
    listedEvents(joined).map(({ kind, times }) => [kind, times]),
    [['outage', 2]],
  );
});

test('a cause is one line, whatever its instances saw first, and also if it becomes a failure', () => {
  const about = { topic: 'redis' } as const;
  const seen = (from: number, until: number | null, text: string, more = {}) => ({
    ...outage(from, until, text),
    about,
    ...more,
  });
  const joined = joinEvents([
    {
      name: 'a:1',
      events: [seen(10, 30, 'Redis does not answer.', { kind: 'warning' }), seen(31, 40, 'Redis refuses.')],
    },
    { name: 'b:1', events: [seen(12, 38, 'Redis closed the connection.')] },
  ]);
  assert.deepEqual(
    listedEvents(joined).map(({ kind, at: began, until, text, instance }) => [kind, began, until, text, instance]),
    [['outage', at(10), at(40), 'Redis closed the connection.', 'a:1, b:1']],
  );
});

test('a configuration that several instances refuse is one line, which ends when the last of them has its files right', () => {
  const refused = (second: number, until: number | null): GatewayEvent => ({
    ...{ kind: 'refused', at: at(second), until: until === null ? null : at(until), text: 'limits.yaml:3 is wrong.' },
  });
  const joined = (end: number | null) =>
    joinEvents([
      { name: 'a:1', events: [refused(10, 50)] },
      { name: 'b:1', events: [refused(11, end)] },
    ]).map(({ at: began, until, instance }) => [began, until, instance]);
  assert.deepEqual(joined(60), [[at(10), at(60), 'a:1, b:1']]);
  assert.deepEqual(joined(null), [[at(10), null, 'a:1, b:1']]);
});
