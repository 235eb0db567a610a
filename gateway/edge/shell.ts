// The few paths the gateway answers by itself, on Express: published keys. Contract operations never pass through here.

import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { GatewayError } from '../errors.ts';
import type { Arrived } from '../exchange.ts';

const ALLOWED = 'GET, HEAD, OPTIONS';

export interface ShellOptions {
  /** Headers of every answer, flat. */
  readonly alwaysCarried: readonly string[];
  admit(arrived: Arrived): unknown;
  /** The public halves of the keys that sign assertions. */
  jwks(): object;
  refuse(arrived: Arrived, thrown: unknown): void;
}

export interface Shell {
  /** Whether a request target belongs to the shell. Two comparisons, since every request is asked. */
  owns(target: string): boolean;
  /** Resolves when Express has taken over; it answers, or refuses through the one error writer. Rejects with what admit throws. */
  handle(arrived: Arrived): Promise<void>;
}

export function createShell(options: ShellOptions): Shell {
  const app: Express = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', false);

  app.get('/.well-known/jwks.json', (_request, response) => {
    // Five minutes less than a new key is published before it signs (`assertion-keys rotate`).
    response.set('Cache-Control', 'public, max-age=300').json(options.jwks());
  });
  // Express would answer OPTIONS by itself, with a body.
  app.options('/.well-known/jwks.json', (_request, response) => {
    response.set({ Allow: ALLOWED, 'Cache-Control': 'no-store' }).status(204).end();
  });
  app.use((_request, _response, next) => {
    next(new GatewayError('method_not_allowed', { headers: { Allow: ALLOWED } }));
  });

  async function handle(arrived: Arrived): Promise<void> {
    options.admit(arrived);
    const { request, response } = arrived;
    for (const [name, value] of pairs([...options.alwaysCarried, ...arrived.carried])) response.setHeader(name, value);
    response.on('finish', () => {
      arrived.trail.status = response.statusCode;
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
    owns: (target) => target.startsWith('/.well-known/') && target.split('?')[0] === '/.well-known/jwks.json',
    handle,
  };
}

function* pairs(flat: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i < flat.length; i += 2) yield [flat[i] as string, flat[i + 1] as string];
}
