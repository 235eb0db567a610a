import assert from 'node:assert/strict';
import { test } from 'node:test';

interface Entry {
  readonly sequence: number;
  readonly at: string;
  readonly kind: string;
  readonly details: Readonly<Record<string, unknown>>;
}

// Scripts of the page are plain JavaScript, without types.
const { joinChanges } = (await import(
  new URL('../../../gateway/console/page/audit-events.js', import.meta.url).href
)) as { joinChanges(changes: readonly Entry[]): Entry[] };

let sequence = 0;
function entry(second: number, instance: string | undefined, details: object): Entry {
  sequence += 1;
  const at = new Date(1_700_000_000_000 + second * 1000).toISOString();
  return { sequence, at, kind: 'configuration.reloaded', details: { ...details, ...(instance && { instance }) } };
}

const processes = ['vm:8481, worker 1', 'vm:8481, worker 2', 'vm:8482, worker 1', 'vm:8482, worker 2'];
const applied = (version: string) => ({ outcome: 'applied', version, changes: [`limits.yaml x: 1 → ${version}`] });
const refused = (mistake: string) => ({ outcome: 'refused', version: 'a', mistakes: [mistake] });
const everywhere = (second: number, details: object) => processes.map((name) => entry(second, name, details));
const shown = (entries: Entry[]) =>
  joinChanges(entries.toReversed()).map(({ details }) => details.version ?? details.mistakes);

test('one change of files is one row, which names each instance once, with its workers', () => {
  const [row, ...others] = joinChanges(everywhere(0, applied('b')).toReversed());
  assert.deepEqual(others, []);
  assert.equal(row?.details.instance, 'vm:8481 (workers 1 and 2), vm:8482 (workers 1 and 2)');
});

test('a change that is made, taken back and made again is a row each time, however quickly', () => {
  for (const seconds of [60, 2]) {
    const all = ['b', 'a', 'b', 'a', 'b', 'a'].flatMap((version, at) => everywhere(at * seconds, applied(version)));
    assert.deepEqual(shown(all), ['a', 'b', 'a', 'b', 'a', 'b']);
  }
});

test('the entry of a process that missed the change between two equal ones is about the first', () => {
  const [one, other] = ['vm:8481', 'vm:8482'];
  const all = [
    ...[entry(0, one, applied('b')), entry(0, other, applied('b'))],
    ...[entry(1, one, applied('a')), entry(2, one, applied('b'))],
  ];
  const rows = joinChanges(all.toReversed());
  assert.deepEqual(
    rows.map(({ details }) => [details.version, details.instance]),
    [
      ['b', 'vm:8481'],
      ['a', 'vm:8481'],
      ['b', 'vm:8481, vm:8482'],
    ],
  );
});

test('two refused changes with different mistakes are two rows', () => {
  const rows = joinChanges([...everywhere(0, refused('One.')), ...everywhere(1, refused('Two.'))].toReversed());
  assert.deepEqual(
    rows.map(({ details }) => details.mistakes),
    [['Two.'], ['One.']],
  );
});

test('equal changes of instances that are minutes apart are separate, and other entries are left alone', () => {
  const late = [entry(0, 'vm:8481', applied('b')), entry(600, 'vm:8482', applied('b'))];
  assert.equal(shown(late).length, 2);
  const keys = [1, 2].map((second) => ({ ...entry(second, undefined, { name: 'k' }), kind: 'key.created' }));
  assert.deepEqual(joinChanges(keys), keys);
});
