// Refusals by upstreams: recognised ones keep their meaning in the one error object, the rest is dropped.

import assert from 'node:assert/strict';
import { REFUSALS } from '../../../gateway/catalogue/errors.ts';
import { type RefusalCase, SECRET } from '../../support/errors.ts';
import { httpAnswer } from '../../support/scripted-upstream.ts';
import type { World } from '../../support/world.ts';

type Case = RefusalCase<World>;

/** Our own object as a resource service writes it, with an id and a page of its own. */
export function ownError(members: Record<string, unknown>): string {
  const of = { type: 'invalid_request_error', request_id: `req_${SECRET}`, doc_url: `http://${SECRET}.internal/` };
  return JSON.stringify({ error: { ...of, status: 418, stack: SECRET, ...members } });
}

function answers(name: string, code: Case['code'], status: number, body: string, message: string, type?: string): Case {
  return {
    name,
    code,
    status,
    provoke({ upstream, call }) {
      upstream.plays((socket) => socket.write(httpAnswer(status, body, type ? { 'Content-Type': type } : {})));
      return call('GET /v1/things/1');
    },
    also: ({ error }) => assert.equal(error.message, message),
  };
}

const said = 'This is for the client to read.';

const recognised: readonly Case[] = [
  answers(
    '409 with our object',
    'invalid_transition',
    409,
    ownError({ code: 'invalid_transition', message: said }),
    said,
  ),
  answers(
    '422 with our object',
    'reference_missing',
    422,
    ownError({ code: 'reference_missing', message: said }),
    said,
  ),
  answers('400 with our object', 'invalid_cursor', 400, ownError({ code: 'invalid_cursor', message: said }), said),
  answers('404 with our object', 'resource_missing', 404, ownError({ code: 'resource_missing', message: said }), said),
  answers(
    '404 with a problem',
    'resource_missing',
    404,
    JSON.stringify({ type: `http://${SECRET}/`, title: 'No', detail: said, instance: SECRET }),
    said,
    'application/problem+json; charset=utf-8',
  ),
  answers('400 with a message', 'upstream_rejected', 400, JSON.stringify({ message: said, trace: SECRET }), said),
  answers('422 with an error text', 'upstream_rejected', 422, JSON.stringify({ error: said }), said),
];

const plain = (code: Case['code']) => REFUSALS[code].message;
const rejected = plain('upstream_rejected');

const replaced: readonly Case[] = [
  answers('404 with a page', 'resource_missing', 404, `<h1>${SECRET}</h1>`, plain('resource_missing'), 'text/html'),
  answers('400 with a page', 'upstream_rejected', 400, `<h1>${SECRET}</h1>`, rejected, 'text/html'),
  answers('400 with text', 'upstream_rejected', 400, SECRET, rejected, 'text/plain'),
  answers('403 without a body', 'upstream_rejected', 403, '', rejected),
  answers('412 without a body', 'precondition_failed', 412, '', plain('precondition_failed')),
  answers('428 without a body', 'precondition_required', 428, '', plain('precondition_required')),
  answers('400 with broken JSON', 'upstream_rejected', 400, `{"message":"${SECRET}`, rejected),
  answers('400 with a list', 'upstream_rejected', 400, `["${SECRET}"]`, rejected),
  answers(
    '400 with members of other types',
    'upstream_rejected',
    400,
    `{"message":{"a":"${SECRET}"},"code":7}`,
    rejected,
  ),
  answers('400 with a code that is none', 'upstream_rejected', 400, '{"code":"Not A Code\\r\\nX: y"}', rejected),
  answers('400 with a huge body', 'upstream_rejected', 400, JSON.stringify({ message: 'x'.repeat(200_000) }), rejected),
];

export const wordsCases: readonly Case[] = [...recognised, ...replaced];
