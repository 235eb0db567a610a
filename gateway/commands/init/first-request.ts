// Chooses the first request for a user of a service that was just added: one that was seen to succeed, and whose answer fits a screen. Pure.

import { filledTemplate } from '../../upstream/requests/path.ts';
import { type Answered, statusOf } from '../upstreams/backend.ts';

/** Headers that every client sends by itself. */
const sentByClients = new Set(['accept', 'accept-encoding', 'user-agent', 'host', 'idempotency-key']);

/** Path and query of the successful read with the shortest answer; undefined if none has succeeded. */
export function firstRequest(answers: readonly Answered[]): string | undefined {
  const [shortest] = answers.filter(isPlain).sort((one, other) => one.body.length - other.body.length);
  if (shortest === undefined) return undefined;
  const { entry, pathValues, search } = shortest.asked;
  return filledTemplate(entry.operation, pathValues) + search;
}

/** A request that needs no header, and has an answer to look at. */
function isPlain(answered: Answered): boolean {
  const { asked, body, problem } = answered;
  const status = statusOf(answered);
  const { method, streams } = asked.entry.operation;
  const isAnswered = problem === undefined && status >= 200 && status < 300 && body.length > 0;
  return (
    isAnswered &&
    method === 'GET' &&
    !streams &&
    asked.method === undefined &&
    [...asked.headers.keys()].every((name) => sentByClients.has(name))
  );
}
