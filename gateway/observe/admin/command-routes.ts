// What the command line asks the admin listener for: the limits of an organization, another try of a credential, and silences.

import type { Express, Request, Response } from 'express';
import { actionOf } from '../../shared/questions/console-action.ts';
import type { AdminAccess } from './admin-access.ts';
import { answerAction, answerFound } from './admin-answers.ts';
import type { Answers, ChangeAuthor } from './answers.ts';

export function addCommandRoutes(
  app: Express,
  access: AdminAccess,
  { limits, retry, act }: Pick<Answers, 'limits' | 'retry' | 'act'>,
): void {
  /** Returns the author of a change: the operator whose token the request has, otherwise the user name that the command sends. */
  const authorOf = ({ url, headers }: Request, response: Response): ChangeAuthor => ({
    by: access.ownNameOf(headers) ?? nameIn(queryOf(url).get('by')),
    requestId: response.get('X-Request-Id'),
  });
  app.get('/limits', ({ url }, response) => answerAbout(limitsOf(queryOf(url)), response, limits.show));
  app.post('/limits/reset', (request, response) => {
    const query = queryOf(request.url);
    return answerAbout(limitsOf(query), response, (id) => limits.reset(id, authorOf(request, response)));
  });
  app.post('/upstreams/retry', (request, response) => {
    const query = queryOf(request.url);
    return answerAbout(retryOf(query), response, (name) => retry(name, authorOf(request, response)));
  });
  app.post('/alerts/silence', async (request, response) => {
    const query = queryOf(request.url);
    const [target, reason] = [query.get('causes') ?? '', query.get('reason') ?? ''];
    const asked = { target, reason, seconds: Number(query.get('seconds') ?? Number.NaN), dry_run: false };
    await answerAction(actionOf('silence-alerts', asked) ?? '', authorOf(request, response).by, response, act);
  });
}

/** Reads the organization or upstream that a command names, and contains the answers if it is unknown or a store cannot be reached. */
interface NamedSubject {
  readonly name: string;
  readonly unknown: object;
  readonly away: string;
}

function limitsOf(query: URLSearchParams): NamedSubject {
  const name = query.get('organization') ?? '';
  const unknown = { code: 'organization_unknown', error: `There is no organization "${name}".` };
  return { name, unknown, away: 'The counters or the key store cannot be reached.' };
}

function retryOf(query: URLSearchParams): NamedSubject {
  const name = query.get('upstream') ?? '';
  const unknown = { code: 'upstream_unknown', error: `There is no upstream "${name}".` };
  return {
    name,
    unknown,
    away: 'The credential is sent again, but the audit log, which notes that, cannot be reached.',
  };
}

async function answerAbout(
  { name, unknown, away }: NamedSubject,
  response: Response,
  ask: (name: string) => Promise<object | undefined>,
): Promise<void> {
  try {
    answerFound(response, await ask(name), unknown);
  } catch {
    response.status(503).json({ error: away });
  }
}

function queryOf(url: string): URLSearchParams {
  return new URL(url, 'http://admin').searchParams;
}

/** Returns the author as text that every terminal can display. */
function nameIn(by: string | null): string {
  const name = (by ?? '').replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
  return name === '' ? 'admin listener' : name;
}
