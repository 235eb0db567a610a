// The console of the admin listener: the page, the data that it shows, and the actions and rehearsals that it asks for.

import express, { type Express } from 'express';
import { actionOf } from '../../shared/questions/console-action.ts';
import { REHEARSAL_BYTES_MAX, rehearsalIn } from '../../shared/questions/console-view.ts';
import type { AskFleet } from '../../shared/questions/fleet.ts';
import type { AdminAccess } from './admin-access.ts';
import { answerAction, type ConsoleFile, challenge, refusing, sendFile, sendJson } from './admin-answers.ts';
import type { Answers } from './answers.ts';

export interface ConsoleAnswers extends Pick<Answers, 'act' | 'inForce' | 'view'> {
  /** Alerts, silences and receivers. */
  alerts(): object;
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

/** Adds the page. A browser that opens the address has no token yet: the page asks for the token, and shows no data before. */
export function addPageRoute(app: Express, access: AdminAccess, { console }: ConsoleAnswers): void {
  // People type the address of the console.
  app.get('/console', (_request, response) => response.redirect('/'));
  app.get(['/', '/console/:version/:file'], async ({ path, headers }, response, next) => {
    const file = await console.file(path);
    if (file === undefined) return next();
    if (path === '/' && access.refuseReading(headers) !== undefined) challenge(response);
    sendFile(file, headers['accept-encoding'], response);
  });
}

/** Adds the rehearsals of requests. A rehearsal changes nothing, so viewers may ask for it, too. */
export function addRehearsalRoute(app: Express, access: AdminAccess, { view }: ConsoleAnswers): void {
  app.post(
    '/console/explain',
    refusing(({ headers }) => access.refuseTrying(headers)),
    express.json({ limit: REHEARSAL_BYTES_MAX }),
    async (request, response) => {
      const asked = rehearsalIn(request.body);
      if (typeof asked === 'string') response.status(400).json({ code: 'rehearsal_invalid', error: asked });
      else response.json(await view({ about: 'rehearsal', request: asked }));
    },
  );
}

/** Adds the data and the actions. */
export function addConsoleRoutes(app: Express, access: AdminAccess, options: ConsoleAnswers): void {
  app.get('/console/session', ({ headers }, response) => {
    response.json(access.sessionOf(headers));
  });
  app.get('/console/in-force', async (_request, response) => {
    response.json(await options.inForce());
  });
  app.get(['/alerts', '/console/alerts'], (_request, response) => {
    response.json(options.alerts());
  });
  app.get('/console/*path', async ({ path, url, headers }, response, next) => {
    const found = await options.console.answer(path, new URL(url, 'http://admin').searchParams);
    if (found === undefined) return next();
    await sendJson(found, headers['accept-encoding'], response);
  });
  app.post('/console/actions/:action', express.json({ limit: ACTION_BYTES_MAX }), async (request, response, next) => {
    const action = actionOf(request.params.action as string, request.body);
    if (action === undefined) next();
    else await answerAction(action, access.nameOf(request.headers) ?? 'admin_token', response, options.act);
  });
}
