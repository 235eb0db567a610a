// Checks the promise of honoursIdempotencyKey, that a repeated key runs once, and that the same key with another request is refused.

import { randomUUID } from 'node:crypto';
import type { UpstreamEntry } from '../../config/upstreams/upstreams-file.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import type { Backend, BackendAnswer } from './backend.ts';

const CHECK = 'idempotency';

/** Checks whether the service honours an Idempotency-Key. @param tried answered requests, of which one that created a record is repeated */
export async function idempotencyOf(
  backend: Backend,
  { honoursIdempotencyKey, whenOutcomeUnknown }: UpstreamEntry,
  tried: readonly BackendAnswer[],
  writes: boolean,
): Promise<Finding[]> {
  if (!honoursIdempotencyKey) return [undeclaredFinding(whenOutcomeUnknown)];
  const created = tried.filter(
    ({ asked, status }) =>
      asked.entry.operation.method === 'POST' &&
      asked.entry.operation.idempotency !== 'off' &&
      asked.bytes === undefined &&
      status >= 200 &&
      status < 300,
  );
  const [first] = created;
  if (!writes || first === undefined)
    return [warn(CHECK, 'It is declared and was not tried.', 'Try it on a test target, or with --writes.')];
  const { asked } = first;
  const headers = new Map(asked.headers).set('idempotency-key', `try-${randomUUID()}`);
  const { operation } = asked.entry;
  const one = await backend.send({ ...asked, headers });
  const again = await backend.send({ ...asked, headers });
  const other = await backend.send({ ...asked, headers, body: changeText(asked.body) });
  return [repetitionFinding(operation.id, one, again), reuseFinding(operation.id, other)];
}

function undeclaredFinding(whenOutcomeUnknown: UpstreamEntry['whenOutcomeUnknown']): Finding {
  if (whenOutcomeUnknown !== 'run') {
    const becomes = 'a key whose outcome is unknown is refused from then on';
    return ok(CHECK, `It declares nothing, so no write is sent again by the gateway, and ${becomes}.`);
  }
  const says = 'whenOutcomeUnknown: run lets a write with an Idempotency-Key run twice if its outcome is unknown.';
  return warn(CHECK, says, 'Keep the answer by its key and declare honoursIdempotencyKey, or take it away.');
}

function repetitionFinding(id: string, one: BackendAnswer, again: BackendAnswer): Finding {
  if (one.status === again.status && one.body.equals(again.body))
    return ok(CHECK, `${id}: a repeated key is answered as it was the first time.`);
  const says = `${id}: a repeated key is answered otherwise (${one.status}, then ${again.status}), so it may have run twice.`;
  return fail(CHECK, says, 'Keep the answer by its key, or take honoursIdempotencyKey away.');
}

function reuseFinding(id: string, { status }: BackendAnswer): Finding {
  if (status >= 400 && status < 500) return ok(CHECK, `${id}: a key with another body is refused (${status}).`);
  const says = `${id}: a key with another body is answered with ${status}.`;
  return fail(CHECK, says, 'Refuse it (422): the client would take the answer for that of its new request.');
}

/** Returns a body of the same shape with another first text. */
function changeText(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return { changed: true };
  const members = Object.entries(body);
  const at = members.findIndex(([, value]) => typeof value === 'string');
  const others = members.map(([name, value], index) => [name, index === at ? `${value}x` : value]);
  return at === -1 ? { ...body, changed: true } : Object.fromEntries(others);
}
