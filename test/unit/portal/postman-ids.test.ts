// Which variables of a Postman collection have the ids of records.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { keepIdScript, postmanIds } from '../../../gateway/portal/reference/postman-ids.ts';

const get = (path: string) => ({ method: 'GET', path });
const post = (path: string) => ({ method: 'POST', path });

test('a parameter behind a path that records are made at is a variable, also on the paths below it', () => {
  const ids = postmanIds([
    get('/a/{a_id}'),
    post('/a'),
    post('/a/{a_id}/cancel'),
    get('/a/{a_id}/b/{b_id}'),
    post('/a/{a_id}/b'),
  ]);
  assert.deepEqual(ids.madeBy(post('/a')), { variable: 'a_id', parameter: 'a_id' });
  assert.deepEqual(ids.madeBy(post('/a/{a_id}/b')), { variable: 'b_id', parameter: 'b_id' });
  assert.equal(ids.madeBy(post('/a/{a_id}/cancel')), undefined);
  assert.equal(ids.madeBy(get('/a')), undefined);
  assert.deepEqual(ids.variablesIn('/a/{a_id}/b/{b_id}'), [undefined, undefined, 'a_id', undefined, 'b_id']);
});

test('a parameter of records that no request makes stays an example', () => {
  const ids = postmanIds([get('/a/{a_id}'), post('/b'), get('/a/{a_id}.json')]);
  assert.deepEqual(ids.variablesIn('/a/{a_id}'), [undefined, undefined, undefined]);
  assert.ok(!ids.isVariable('a_id'));
});

test('collections that call their parameter alike have variables of their own, and none is one of the collection itself', () => {
  const ids = postmanIds(['a', 'b', 'x/a', 'c-d'].flatMap((name) => [post(`/${name}`), get(`/${name}/{id}`)]));
  const variables = ['a', 'b', 'x/a', 'c-d'].map((name) => ids.variablesIn(`/${name}/{id}`).at(-1));
  assert.deepEqual(variables, ['a_id', 'b_id', 'a_id_2', 'c_d_id']);
  const reserved = postmanIds([post('/keys'), get('/keys/{apiKey}')]);
  assert.equal(reserved.variablesIn('/keys/{apiKey}').at(-1), 'keys_apiKey');
  assert.deepEqual([reserved.isVariable('apiKey'), reserved.isVariable('keys_apiKey')], [false, true]);
});

const scriptFor = (parameter: string) =>
  (keepIdScript({ variable: 'v', parameter }) as { script: { exec: string[] } }).script.exec.join('\n');

for (const [what, parameter, code, text, kept] of [
  ['the member that is called as the parameter', 'a_id', 201, '{"a_id":7,"id":"x"}', '7'],
  ['the id', 'a_id', 200, '{"id":"x","name":"n"}', 'x'],
  ['the id below data', 'a_id', 200, '{"data":{"id":"x"}}', 'x'],
  ['nothing of a refusal', 'a_id', 400, '{"id":"x"}', undefined],
  ['nothing of what is no JSON', 'a_id', 200, '<p>', undefined],
  ['nothing of null', 'a_id', 200, 'null', undefined],
  ['nothing of a list', 'a_id', 200, '[{"id":"x"}]', undefined],
  ['a member with any name', `a"];throw 1;//\n`, 200, '{"id":"x"}', 'x'],
] as const) {
  test(`a script keeps ${what}`, () => {
    const variables = new Map<string, string>();
    const response = { code, json: () => JSON.parse(text) };
    const collectionVariables = { set: (name: string, value: string) => variables.set(name, value) };
    runInNewContext(scriptFor(parameter), { pm: { response, collectionVariables } });
    assert.equal(variables.get('v'), kept);
  });
}
