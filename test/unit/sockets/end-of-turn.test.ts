// Work at the end of a turn: an error in one piece of it is reported, and the others are done all the same.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { contain, onFault } from '../../../gateway/shared/faults.ts';
import { atEndOfTurn } from '../../../gateway/sockets/end-of-turn.ts';

const endOfTurn = () => new Promise<void>((resolve) => atEndOfTurn(undefined, resolve));

it('an error in one piece of work leaves the others alone and is reported', async () => {
  const reported: unknown[] = [];
  const stop = onFault((thrown) => reported.push(thrown));
  const done: string[] = [];
  const mistake = new Error('a mistake');
  atEndOfTurn(done, () => done.push('before'));
  atEndOfTurn(
    done,
    () => {
      throw mistake;
    },
    (list, thrown) => list.push(thrown === mistake ? 'ended' : 'something else'),
  );
  atEndOfTurn(done, (list) => list.push('after'));
  await endOfTurn();
  stop();
  assert.deepEqual(done, ['before', 'ended', 'after']);
  assert.deepEqual(reported, [mistake]);
});

it('work that is added meanwhile is done at the end of the next turn', async () => {
  const done: string[] = [];
  atEndOfTurn(undefined, () => atEndOfTurn(done, () => done.push('next')));
  await endOfTurn();
  assert.deepEqual(done, []);
  await endOfTurn();
  assert.deepEqual(done, ['next']);
});

it('an error in the end of an exchange, or in a reporter, is contained too', () => {
  const reported: unknown[] = [];
  const stops = [
    onFault((thrown) => reported.push((thrown as Error).message)),
    onFault(() => {
      throw new Error('cannot report');
    }),
  ];
  process.once('warning', () => undefined);
  contain(
    () => {
      throw new Error('first');
    },
    () => {
      throw new Error('second');
    },
  );
  for (const stop of stops) stop();
  assert.deepEqual(reported, ['first', 'second']);
});
