// The few paths the gateway answers by itself, on Express: published keys and documentation. Contract operations never pass through here.

import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { GatewayError } from '../errors.ts';
import type { Admitted, Arrived } from '../exchange.ts';
import { nodeExchangeOf } from './node-exchange.ts';

const allowed = ['GET', 'HEAD', 'OPTIONS'];
const Allow = allowed.join(', ');
const JWKS = '/.well-known/jwks.json';

export interface ShellOptions {
  admit(arrived: Arrived): Admitted;
  /** The public halves of the keys that sign assertions. */
  jwks(): object;
  /** Documentation, which is where the API is. */
  readonly portal: {
    owns(target: string): boolean;
    /** False: nothing is there, and nothing was written. */
    answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  };
  refuse(arrived: Arrived, thrown: unknown): void;
}

export interface Shell {
  /** Whether a request target belongs to the shell. Two comparisons, since every request is asked. */
  owns(target: string, isApi: boolean): boolean;
  /** Resolves when Express has taken over; it answers, or refuses through the one error writer. Rejects with what admit throws. */
  handle(arrived: Arrived): Promise<void>;
}

export function createShell(options: ShellOptions): Shell {
  const app: Express = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  // Express would answer OPTIONS by itself, with a body.
  app.options(/.*/, (_request, response) => {
    response.set({ Allow, 'Cache-Control': 'no-store' }).status(204).end();
  });
  app.use(({ method }, _response, next) => {
    next(allowed.includes(method) ? undefined : new GatewayError('method_not_allowed', { headers: { Allow } }));
  });
  app.get(JWKS, (_request, response) => {
    // Five minutes less than a new key is published before it signs (`assertion-keys rotate`).
    response.set('Cache-Control', 'public, max-age=300').json(options.jwks());
  });
  app.use(async (request, response, next) => {
    if (!(await options.portal.answer(request.path, request, response))) next();
  });

  async function handle(arrived: Arrived): Promise<void> {
    options.admit(arrived);
    const { request, response, trail } = nodeExchangeOf(arrived);
    for (const [name, value] of pairs(arrived.carried)) response.setHeader(name, value);
    response.on('finish', () => {
      trail.status = response.statusCode;
      const code = response.getHeader('X-Error-Code');
      if (typeof code === 'string') trail.code = code;
    });
    app(
      request as Request,
      response as Response,
      ((thrown: unknown) => {
        // Express says so a turn later. If the request has been refused meanwhile, since its body is broken, nothing is left to say:
        // what is thrown here would end the process.
        if (response.headersSent) return;
        for (const name of response.getHeaderNames()) response.removeHeader(name);
        options.refuse(arrived, thrown ?? new GatewayError('route_not_found'));
      }) as NextFunction,
    );
  }

  return {
    owns(target, isApi) {
      const second = target.charCodeAt(1);
      if (second === 0x2e) return target.split('?')[0] === JWKS;
      // /docs and /openapi
      return (second === 0x64 || second === 0x6f) && isApi && options.portal.owns(target);
    },
    handle,
  };
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i < flat.length; i += 2) yield [flat[i] as string, flat[i + 1] as string];
}
