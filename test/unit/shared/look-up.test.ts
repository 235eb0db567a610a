import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import { createLookUp } from '../../../gateway/shared/stores/look-up.ts';
import { refusal } from '../auth/samples.ts';

/** A store with answers controlled by the test, and the answers kept. */
function asking() {
  const state = { generation: 0, position: 0 as number | undefined, failure: undefined as unknown };
  const questions: PromiseWithResolvers<string | undefined>[] = [];
  const kept = new Map<string, { known: string } | undefined>();
  const follower = {
    generation: () => state.generation,
    position: () => state.position,
    noteFailure(cause: unknown) {
      state.failure = cause;
    },
  };
  const lookUp = createLookUp<string, { known: string }>({
    follower,
    learn(name, found, keep) {
      const known = found === undefined ? undefined : { known: found };
      if (keep) kept.set(name, known);
      return known;
    },
    unavailable: (cause) => new GatewayError('auth_unavailable', { cause }),
  });
  function ask(name = 'one') {
    return lookUp(name, () => {
      const question = Promise.withResolvers<string | undefined>();
      questions.push(question);
      return question.promise;
    });
  }
  return { state, questions, kept, lookUp, ask };
}

test('equal look-ups at the same time share one question and one answer', async () => {
  const { questions, kept, ask } = asking();
  const asked = Array.from({ length: 50 }, () => ask());
  const other = ask('other');
  assert.equal(questions.length, 2);
  questions[0]?.resolve('yes');
  questions[1]?.resolve(undefined);
  const answers = await Promise.all(asked);
  assert.equal(new Set(answers).size, 1);
  assert.deepEqual(answers[0], { known: 'yes' });
  assert.equal(await other, undefined);
  assert.deepEqual([...kept.keys()], ['one', 'other']);
});

test('a look-up after a change does not get the answer to an earlier question, and that answer is not kept', async () => {
  const { state, questions, kept, ask } = asking();
  const before = ask();
  state.generation += 1;
  const [after, later] = [ask(), ask()];
  assert.equal(questions.length, 2);
  questions[0]?.resolve('as it was');
  assert.deepEqual(await before, { known: 'as it was' });
  assert.equal(kept.size, 0);
  // The end of the first question must not make the second one forgotten.
  const latest = ask();
  assert.equal(questions.length, 2);
  questions[1]?.resolve('as it is');
  for (const answer of [after, later, latest]) assert.deepEqual(await answer, { known: 'as it is' });
  assert.deepEqual(kept.get('one'), { known: 'as it is' });
});

test('an answer is not kept if something changed while it was in progress', async () => {
  const { state, questions, kept, ask } = asking();
  const asked = ask();
  state.generation += 1;
  questions[0]?.resolve('perhaps');
  assert.deepEqual(await asked, { known: 'perhaps' });
  assert.equal(kept.size, 0);
});

test('before the stream was read nothing is kept', async () => {
  const { state, kept, lookUp } = asking();
  state.position = undefined;
  assert.deepEqual(
    lookUp('one', () => 'yes'),
    { known: 'yes' },
  );
  assert.equal(kept.size, 0);
  state.position = 0;
  assert.deepEqual(
    lookUp('one', () => 'yes'),
    { known: 'yes' },
  );
  assert.equal(kept.size, 1);
});

test('after a failure each caller gets a separate error, the failure is noted, and the next look-up asks again', async () => {
  const { state, questions, ask } = asking();
  const asked = [ask(), ask(), ask()];
  const cause = new Error('gone');
  questions[0]?.reject(cause);
  const outcomes = await Promise.allSettled(asked);
  const reasons = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason);
  assert.equal(new Set(reasons).size, 3);
  assert.ok(reasons.every(refusal('auth_unavailable')));
  assert.equal(state.failure, cause);
  const again = ask();
  questions[1]?.resolve('yes');
  assert.deepEqual(await again, { known: 'yes' });
});

test('a store that fails at once is a failure like any other', () => {
  const { state, lookUp } = asking();
  const cause = new Error('closed');
  const ask = () => {
    throw cause;
  };
  assert.throws(
    () => lookUp('one', ask),
    (thrown) => thrown instanceof GatewayError && thrown.code === 'auth_unavailable' && thrown.cause === cause,
  );
  assert.equal(state.failure, cause);
});
