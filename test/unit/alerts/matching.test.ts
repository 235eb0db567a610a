// Patterns of causes, windows of silence, and that each cause of the console has an id that patterns can begin with.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isInWindow, matchesPattern } from '../../../gateway/alerts/matching.ts';
import { alertSettings, CAUSE_KINDS, isCausePattern } from '../../../gateway/alerts/settings.ts';
import { TOPICS } from '../../../gateway/console/causes/cause.ts';

it('a star stands for any text', () => {
  const cases: [pattern: string, id: string, matches: boolean][] = [
    ['*', '', true],
    ['*', 'redis', true],
    ['redis', 'redis', true],
    ['redis', 'redis 2', false],
    ['upstream *', 'upstream orders live', true],
    ['upstream *', 'upstream', false],
    ['upstream * live', 'upstream orders live', true],
    ['upstream * live', 'upstream live', false],
    ['upstream * live', 'upstream orders test', false],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'acb', false],
    ['a*ab', 'ab', false],
    ['*a*a*', 'a', false],
    ['operation GET /v1/*', 'operation GET /v1/things', true],
    ['operation .*', 'operation x', false],
  ];
  for (const [pattern, id, matches] of cases) assert.equal(matchesPattern(pattern, id), matches, `${pattern} ${id}`);
  // Would take a backtracking matcher years.
  assert.equal(matchesPattern(`${'*a'.repeat(150)}b`, `${'a'.repeat(300)}`), false);
});

it('a window begins and ends at a time of day of its zone, also over midnight', () => {
  const [window] = alertSettings.parse({
    receivers: {},
    silences: [{ days: ['sat'], from: '23:00', to: '02:00', timeZone: 'Europe/Berlin' }],
  }).silences;
  assert.ok(window);
  const at = (time: string) => isInWindow(window, Date.parse(time));
  // Saturday, 28 November 2026; Berlin is an hour ahead.
  assert.deepEqual(
    ['T21:59Z', 'T22:00Z', 'T22:59Z', 'T23:30Z'].map((time) => at(`2026-11-28${time}`)),
    [false, true, true, true],
  );
  assert.deepEqual(['2026-11-29T00:59Z', '2026-11-29T01:00Z', '2026-11-29T22:30Z', '2026-11-28T00:30Z'].map(at), [
    true,
    false,
    false,
    false,
  ]);
});

it('every cause of the console has a kind that patterns know', () => {
  // A message about a gateway that starts or ends is of no use: the cause is over before it arrives.
  const topics = TOPICS.filter((topic) => topic !== 'lifecycle');
  const kinds = new Set(topics.map((topic) => topic.split(' ')[0] ?? ''));
  assert.deepEqual([...kinds].sort(), [...CAUSE_KINDS]);
  assert.ok(isCausePattern('*') && isCausePattern('upstream*') && !isCausePattern('upstraem orders'));
});
