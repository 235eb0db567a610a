// The admin listener: probes, metrics, status and the console for operators. The order of its routes decides what needs which token:
// `admin-access.ts` says who may do what.

import { createServer, type Server } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { Logger } from 'pino';
import { exchangesIn } from '../../shared/questions/fleet.ts';
import { AdminAccess, type AdminTokens } from './admin-access.ts';
import { answerFound, refusing } from './admin-answers.ts';
import { createAdminLog } from './admin-log.ts';
import type { Answers } from './answers.ts';
import { addCommandRoutes } from './command-routes.ts';
import { addConsoleRoutes, addPageRoute, addRehearsalRoute, type ConsoleAnswers } from './console-routes.ts';

export interface AdminOptions extends Answers, ConsoleAnswers {
  /** Returns the causes that need attention, in the form of alerts. */
  causes(): Promise<object>;
  /** The bound address of the listener, which determines the Host names that it accepts. */
  readonly host: string;
  readonly tokens: AdminTokens;
  readonly logger: Logger;
}

export function createAdminServer(options: AdminOptions): Server {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);
  app.use((_request, response, next) => {
    response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
    next();
  });

  addProbeRoutes(app, options);
  // The log comes after the routes of the probes, because probes come every few seconds, not from operators, and are not logged.
  app.use(createAdminLog(options.logger));
  const access = new AdminAccess(options.host, options.tokens);
  app.use(refusing((request) => access.refuseStranger(request)));
  addPageRoute(app, access, options);
  addRehearsalRoute(app, access, options);
  app.post(
    '/console/actions/:action',
    refusing(({ headers }) => access.refuseActing(headers)),
  );
  app.use(
    refusing(({ method, headers }) =>
      method === 'GET' || method === 'HEAD' ? access.refuseReading(headers) : access.refuseWriting(headers),
    ),
  );
  addConsoleRoutes(app, access, options);
  addReportRoutes(app, options);
  addCommandRoutes(app, access, options);
  addFallbackRoutes(app);
  return createServer(app);
}

function addProbeRoutes(app: Express, { readiness }: AdminOptions): void {
  app.get('/livez', (_request, response) => {
    response.json({ status: 'ok' });
  });
  app.get('/readyz', async (_request, response) => {
    const { ready, checks } = await readiness();
    response.status(ready ? 200 : 503).json({ status: ready ? 'ok' : 'unavailable', checks });
  });
}

/** Adds what operators and their tools read, beside the console. */
function addReportRoutes(app: Express, { metrics, status, causes, versions, console }: AdminOptions): void {
  app.get('/causes', async (_request, response) => {
    response.json(await causes());
  });
  app.get('/metrics', async (_request, response) => {
    response.set('Content-Type', metrics.contentType).send(await metrics.text());
  });
  app.get('/status', async (_request, response) => {
    response.json(await status());
  });
  app.get('/versions', async (_request, response) => {
    try {
      response.json(await versions());
    } catch {
      response.status(503).json({ error: 'The store of what is deprecated and used cannot be reached.' });
    }
  });
  app.get('/exchanges/:id', async ({ params }, response) => {
    // Oldest first, as an access log has them.
    const exchanges = exchangesIn(await console.askFleet({ about: 'exchange', id: params.id })).reverse();
    const unknown = {
      code: 'exchange_unknown',
      error: 'No exchange with this id is remembered: it is too old, or of another gateway, or the id is misspelt.',
    };
    answerFound(response, exchanges.length > 0 ? { exchanges } : undefined, unknown);
  });
}

/** Adds the answers to unknown paths, and to requests that fail. */
function addFallbackRoutes(app: Express): void {
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
}
