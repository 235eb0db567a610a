// Answers paths of the gateway itself, with Express: published keys, documentation, and the front page, which leads browsers to the
// documentation. Contract operations do not use it.

import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { GatewayError } from '../../catalogue/errors.ts';
import type { DownstreamRequest } from '../../exchange/downstream.ts';
import type { Admitted, Arrived } from '../../exchange/exchange.ts';
import { nodeExchangeOf } from '../edge-exchange.ts';

const ALLOWED_METHODS = ['GET', 'HEAD', 'OPTIONS'];
const Allow = ALLOWED_METHODS.join(', ');
const JWKS = '/.well-known/jwks.json';

export interface OwnPathsOptions {
  admit(arrived: Arrived): Admitted;
  /** Returns the public halves of the keys that sign assertions. */
  jwks(): object;
  /** Documentation, on the host name of the API. */
  readonly portal: {
    owns(target: string): boolean;
    /** Returns false, and writes nothing, if the path does not exist. */
    answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  };
  /** Whether no operation of a contract is at `/`. */
  readonly isRootFree: boolean;
  refuse(arrived: Arrived, thrown: unknown): void;
}

interface OwnPaths {
  /**
   * Whether the target of a request is a path of the gateway itself. Every request calls this function; for most it makes two comparisons.
   */
  owns(request: DownstreamRequest, isApi: boolean): boolean;
  /** Resolves when Express has taken over; Express answers, or refuses through `refuse`. Rejects with the codes of admit. */
  handle(arrived: Arrived): Promise<void>;
}

export function createOwnPaths(options: OwnPathsOptions): OwnPaths {
  const app: Express = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  // Replaces Express's own answer to OPTIONS, which has a body.
  app.options(/.*/, (_request, response) => {
    response.set({ Allow, 'Cache-Control': 'no-store' }).status(204).end();
  });
  app.use(({ method }, _response, next) => {
    next(ALLOWED_METHODS.includes(method) ? undefined : new GatewayError('method_not_allowed', { headers: { Allow } }));
  });
  app.get(JWKS, (_request, response) => {
    // A new key is published 10 minutes before it signs (`assertion-keys rotate`), so caches that keep the answer for 5 minutes have it in
    // time.
    response.set('Cache-Control', 'public, max-age=300').json(options.jwks());
  });
  app.get('/', (_request, response) => {
    response.set({ Location: '/docs', Vary: 'Accept', 'Cache-Control': 'no-store' }).status(302).end();
  });
  app.use(async (request, response, next) => {
    if (!(await options.portal.answer(request.path, request, response))) next();
  });

  async function handle(arrived: Arrived): Promise<void> {
    options.admit(arrived);
    const { request, response, trail, commonHeaders } = nodeExchangeOf(arrived);
    for (let i = 0; i < commonHeaders.length; i += 2)
      response.setHeader(commonHeaders[i] as string, commonHeaders[i + 1] as string);
    response.on('finish', () => {
      trail.status = response.statusCode;
      const code = response.getHeader('X-Error-Code');
      if (typeof code === 'string') trail.code = code;
    });
    app(
      request as Request,
      response as Response,
      ((thrown: unknown) => {
        // Express calls this function in a later turn. The request may have been refused meanwhile, for example for a broken body. Nothing
        // may be written in that case, because an error thrown here would end the process.
        if (response.headersSent) return;
        for (const name of response.getHeaderNames()) response.removeHeader(name);
        options.refuse(arrived, thrown ?? new GatewayError('route_not_found'));
      }) as NextFunction,
    );
  }

  return {
    owns(request, isApi) {
      const target = request.url as string;
      if (target === '/') return options.isRootFree && isApi && isBrowser(request);
      const second = target.charCodeAt(1);
      if (second === 0x2e) return target.split('?')[0] === JWKS;
      // /docs, /openapi and /llms.txt
      return (second === 0x64 || second === 0x6f || second === 0x6c) && isApi && options.portal.owns(target);
    },
    handle,
  };
}

/** Whether the client is a browser, which asks for a page. Other clients get the error that says which paths exist. */
function isBrowser({ method, headers }: DownstreamRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}
