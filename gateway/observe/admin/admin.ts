// The admin listener: probes, metrics, status and the console for operators. `admin-access.ts` says who may do what.

import { createServer, type Server } from 'node:http';
import express, { type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { actionOf, type ConsoleAction } from '../../shared/questions/console-action.ts';
import { REHEARSAL_BYTES_MAX, rehearsalIn } from '../../shared/questions/console-view.ts';
import { type AskFleet, exchangesIn } from '../../shared/questions/fleet.ts';
import { type AdminRefusal, type AdminTokens, createAdminAccess } from './admin-access.ts';
import { type ConsoleFile, sendFile, sendJson } from './admin-answers.ts';
import { createAdminLog } from './admin-log.ts';
import type { Answers, ChangeAuthor } from './answers.ts';

export interface AdminOptions extends Answers {
  /** Alerts, silences and receivers. */
  alerts(): object;
  /** Returns the causes that need attention, in the form of alerts. */
  causes(): Promise<object>;
  /** The bound address of the listener, which determines the Host names that it accepts. */
  readonly host: string;
  readonly tokens: AdminTokens;
  readonly logger: Logger;
  /**
   * Returns the files of the console by path, which contain no secrets, and the data that the console shows; undefined for unknown names.
   */
  readonly console: {
    file(path: string): Promise<ConsoleFile | undefined>;
    answer(path: string, query: URLSearchParams): Promise<object | undefined>;
    /** Asks all processes of all instances. */
    readonly askFleet: AskFleet;
  };
}

/** The largest body of an action. Actions are many times smaller. */
const ACTION_BYTES_MAX = 4096;

export function createAdminServer(options: AdminOptions): Server {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use((_request, response, next) => {
    response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
    next();
  });

  app.get('/livez', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get('/readyz', async (_request, response) => {
    const { ready, checks } = await options.readiness();
    response.status(ready ? 200 : 503).json({ status: ready ? 'ok' : 'unavailable', checks });
  });

  // The log comes after the routes of the probes, because probes come every few seconds, not from operators, and are not logged.
  app.use(createAdminLog(options.logger));
  const access = createAdminAccess(options.host, options.tokens);
  /** Returns the author of a change: the operator whose token the request has, otherwise the user name that the command sends. */
  const authorOf = ({ url, headers }: Request, response: Response): ChangeAuthor => ({
    by: access.ownNameOf(headers) ?? nameIn(queryOf(url).get('by')),
    requestId: response.get('X-Request-Id'),
  });
  /** Carries out an action. @param action the action, or the reason why the request names none */
  async function act(action: ConsoleAction | string, by: string, response: Response): Promise<void> {
    const { status, body } =
      typeof action === 'string'
        ? { status: 400, body: { code: 'action_invalid', error: action } }
        : await options.act(action, response.get('X-Request-Id') as string, by);
    response.status(status).json(body);
  }
  app.use(refusing((request) => access.refuseStranger(request)));
  app.get(['/', '/console/:version/:file'], async ({ path, headers }, response, next) => {
    const file = await options.console.file(path);
    if (file === undefined) return next();
    // A browser that opens the address has no token yet, so the page is served without a token. The page asks for the token, and shows no
    // data before.
    if (path === '/' && access.refuseReading(headers) !== undefined) challenge(response);
    sendFile(file, headers['accept-encoding'], response);
  });
  app.post(
    '/console/actions/:action',
    refusing(({ headers }) => access.refuseActing(headers)),
  );
  app.post(
    '/console/explain',
    refusing(({ headers }) => access.refuseTrying(headers)),
  );
  // A rehearsal changes nothing, so viewers may ask for it, too.
  app.post('/console/explain', express.json({ limit: REHEARSAL_BYTES_MAX }), async (request, response) => {
    const asked = rehearsalIn(request.body);
    if (typeof asked === 'string') response.status(400).json({ code: 'rehearsal_invalid', error: asked });
    else response.json(await options.view({ about: 'rehearsal', request: asked }));
  });
  app.use(
    refusing(({ method, headers }) =>
      method === 'GET' || method === 'HEAD' ? access.refuseReading(headers) : access.refuseWriting(headers),
    ),
  );
  app.get('/console/session', ({ headers }, response) => {
    response.json(access.sessionOf(headers));
  });
  app.get('/console/in-force', async (_request, response) => {
    response.json(await options.inForce());
  });
  app.post('/console/actions/:action', express.json({ limit: ACTION_BYTES_MAX }), async (request, response, next) => {
    const action = actionOf(request.params.action as string, request.body);
    if (action === undefined) next();
    else await act(action, access.nameOf(request.headers) ?? 'admin_token', response);
  });
  app.get(['/alerts', '/console/alerts'], (_request, response) => {
    response.json(options.alerts());
  });
  app.get('/causes', async (_request, response) => {
    response.json(await options.causes());
  });
  app.get('/console/*path', async ({ path, url, headers }, response, next) => {
    const found = await options.console.answer(path, new URL(url, 'http://admin').searchParams);
    if (found === undefined) return next();
    await sendJson(found, headers['accept-encoding'], response);
  });
  app.get('/metrics', async (_request, response) => {
    response.set('Content-Type', options.metrics.contentType).send(await options.metrics.text());
  });
  app.get('/status', async (_request, response) => {
    response.json(await options.status());
  });
  app.get('/limits', ({ url }, response) => answerAbout(limitsOf(queryOf(url)), response, options.limits.show));
  app.post('/limits/reset', (request, response) => {
    const query = queryOf(request.url);
    return answerAbout(limitsOf(query), response, (id) => options.limits.reset(id, authorOf(request, response)));
  });
  app.post('/upstreams/retry', (request, response) => {
    const query = queryOf(request.url);
    return answerAbout(retryOf(query), response, (name) => options.retry(name, authorOf(request, response)));
  });
  app.post('/alerts/silence', async (request, response) => {
    const query = queryOf(request.url);
    const [target, reason] = [query.get('causes') ?? '', query.get('reason') ?? ''];
    const asked = { target, reason, seconds: Number(query.get('seconds') ?? Number.NaN), dry_run: false };
    await act(actionOf('silence-alerts', asked) ?? '', authorOf(request, response).by, response);
  });
  app.get('/versions', async (_request, response) => {
    try {
      response.json(await options.versions());
    } catch {
      response.status(503).json({ error: 'The store of what is deprecated and used cannot be reached.' });
    }
  });
  app.get('/exchanges/:id', async ({ params }, response) => {
    // Oldest first, as an access log has them.
    const exchanges = exchangesIn(await options.console.askFleet({ about: 'exchange', id: params.id })).reverse();
    const unknown = {
      code: 'exchange_unknown',
      error: 'No exchange with this id is remembered: it is too old, or of another gateway, or the id is misspelt.',
    };
    answerFound(response, exchanges.length > 0 ? { exchanges } : undefined, unknown);
  });
  app.use((_request, response) => {
    response.status(404).json({
      error:
        'There is nothing here. Try / in a browser, /livez, /readyz, /metrics, /status, /versions, /limits?organization=… or /exchanges/<request id>.',
    });
  });
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const { status, expose, message } = error as {
      readonly status?: unknown;
      readonly expose?: unknown;
      readonly message?: string;
    };
    const known = Number(status);
    if (known === 503 && expose === true) response.status(known).json({ error: message });
    else response.status(known >= 400 && known < 500 ? known : 500).json({ error: 'The request failed.' });
  });
  return createServer(app);
}

function answerFound(response: Response, found: object | undefined, unknown: object): void {
  response.status(found ? 200 : 404).json(found ?? unknown);
}

/** Reads the organization or upstream that a command names, and contains the answers if it is unknown or a store cannot be reached. */
interface Named {
  readonly name: string;
  readonly unknown: object;
  readonly away: string;
}

function limitsOf(query: URLSearchParams): Named {
  const name = query.get('organization') ?? '';
  const unknown = { code: 'organization_unknown', error: `There is no organization "${name}".` };
  return { name, unknown, away: 'The counters or the key store cannot be reached.' };
}

function retryOf(query: URLSearchParams): Named {
  const name = query.get('upstream') ?? '';
  const unknown = { code: 'upstream_unknown', error: `There is no upstream "${name}".` };
  return {
    name,
    unknown,
    away: 'The credential is sent again, but the audit log, which notes that, cannot be reached.',
  };
}

async function answerAbout(
  { name, unknown, away }: Named,
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

/** Creates a middleware that answers with the refusal, if there is one. */
function refusing(refusalOf: (request: Request) => AdminRefusal | undefined) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const refusal = refusalOf(request);
    if (refusal?.status === 401) challenge(response);
    if (refusal === undefined) next();
    else response.status(refusal.status).json(refusal.body);
  };
}

function challenge(response: Response): Response {
  return response.status(401).set('WWW-Authenticate', 'Bearer realm="admin"');
}
