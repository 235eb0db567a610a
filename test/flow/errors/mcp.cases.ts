// Every refusal that only agents get. Those of calls are results of tools: the error object without an HTTP answer of its own.

import type { Answer } from '../../support/upstream.ts';

interface ToolRefusal {
  readonly name: string;
  readonly code: 'tool_answer_too_large' | 'tool_answer_unreadable';
  readonly tool: string;
  readonly answer: Answer;
  readonly fields: object;
}

export const toolRefusals: readonly ToolRefusal[] = [
  {
    name: 'a picture',
    code: 'tool_answer_unreadable',
    tool: 'getPicture',
    answer(_request, response) {
      response.writeHead(200, { 'content-type': 'image/png' });
      response.end(Buffer.from('89504e47', 'hex'));
    },
    fields: { media_type: 'image/png', upstream_status: 200 },
  },
  {
    name: 'one record that is too long',
    code: 'tool_answer_too_large',
    tool: 'getRecord',
    answer(_request, response) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'a', name: 'x'.repeat(3000) }));
    },
    fields: { max_bytes: 2048, upstream_status: 200 },
  },
  {
    name: 'a list whose first record is too long',
    code: 'tool_answer_too_large',
    tool: 'listRecords',
    answer(_request, response) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: [{ id: 'a', name: 'x'.repeat(3000) }], cursor: null }));
    },
    fields: { max_bytes: 2048, upstream_status: 200, limit_argument: 'limit' },
  },
];

export const mcpCases = [...toolRefusals, { code: 'origin_not_allowed' }] as const;
