// What a model gets of answers: JSON with its text beside it, lists cut at whole records, text, and refusals of everything else.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Agent, type AgentWorld, answerRecord, startAgents } from '../../support/agents.ts';
import type { Answer } from '../../support/upstream.ts';
import { toolRefusals } from '../errors/mcp.cases.ts';

const answerWith =
  (type: string | undefined, body: string | Buffer, status = 200): Answer =>
  (_request, response) => {
    response.writeHead(status, type === undefined ? {} : { 'content-type': type });
    response.end(body);
  };

describe('an answer for a model', () => {
  let world: AgentWorld;
  let agent: Agent;
  before(async () => {
    world = await startAgents({}, { answerBytesMax: 2048 });
    agent = await world.agent();
  });
  after(() => world.close());

  it('is JSON as content that fits the schema of the tool, and the same as text', async () => {
    world.answers(answerRecord);
    const { result: list } = await agent.send('tools/list');
    const { outputSchema } = list.tools.find((tool: { name: string }) => tool.name === 'getRecord');
    const { result } = await agent.call('getRecord', { id: 'a' });
    assert.deepEqual(result.structuredContent, { id: 'rec_1', name: 'Ada' });
    assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
    assert.equal(result.isError, undefined);
    const validate = new Ajv2020({ strict: false }).compile(outputSchema);
    assert.ok(validate(result.structuredContent));
  });

  it('is cut at whole records, with the arguments that lead to the others', async () => {
    const data = Array.from({ length: 60 }, (_, index) => ({ id: `rec_${index}`, name: 'é'.repeat(20) }));
    world.answers(answerWith('application/json', JSON.stringify({ data, cursor: 'behind-60' })));
    const { result } = await agent.call('listRecords', { limit: 60 });
    const { shown, total, hint } = result._meta['gateway/cut'];
    assert.equal(total, 60);
    assert.ok(shown > 10 && shown < 60);
    assert.deepEqual(result.structuredContent, { data: data.slice(0, shown), cursor: 'behind-60' });
    assert.ok(Buffer.byteLength(result.content[0].text) <= 2048);
    assert.match(hint, new RegExp(`first ${shown} of 60 .*limit: ${shown} and go on with cursor`));
    assert.equal(result.content[1].text, hint);
  });

  it('is text where the service sends text', async () => {
    world.answers(answerWith('text/plain; charset=utf-8', 'Grüße'));
    const { result } = await agent.call('readNotes');
    assert.deepEqual(result.content, [{ type: 'text', text: 'Grüße' }]);
    assert.equal(result.structuredContent, undefined);
  });

  it('says that it is done where there is nothing to read', async () => {
    world.answers(answerWith(undefined, '', 204));
    const { result } = await agent.call('deleteRecord', { id: 'a' });
    assert.deepEqual([result.isError, result.content[0].text], [undefined, 'Done, with status 204.']);
  });

  it('is an error with the words of the service', async () => {
    world.answers(answerWith('application/json', '{"message":"no such record"}', 404));
    const { result } = await agent.call('getRecord', { id: 'a' });
    assert.deepEqual([result.isError, result.structuredContent.error.status], [true, 404]);
    world.answers((_request, response) => response.destroy());
    const { result: lost } = await agent.call('getRecord', { id: 'a' });
    assert.equal(lost.structuredContent.error.code, 'upstream_bad_response');
  });

  for (const { name, code, tool, answer, fields } of toolRefusals) {
    it(`${name} → ${code}`, async () => {
      world.answers(answer);
      const { result } = await agent.call(tool, tool === 'getRecord' ? { id: 'a' } : {});
      const { error } = result.structuredContent;
      assert.equal(result.isError, true);
      assert.equal(error.code, code);
      assert.equal(error.request_id, result._meta['gateway/request_id']);
      for (const [member, value] of Object.entries(fields)) assert.equal(error[member], value, member);
      assert.match(error.doc_url, new RegExp(`/docs/errors/${code}$`));
    });
  }

  it('that never ends is given up at its head', async () => {
    const ended = Promise.withResolvers<void>();
    world.answers((_request, response) => {
      response.on('close', () => ended.resolve());
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    const { result } = await agent.call('getPicture');
    assert.equal(result.structuredContent.error.code, 'tool_answer_unreadable');
    await ended.promise;
  });
});
