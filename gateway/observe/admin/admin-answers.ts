// The forms of the answers of the admin listener: refusals, the outcomes of actions, and the files and the figures of the console, with
// browser security headers and compressed for clients that understand that.

import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { NextFunction, Request, Response } from 'express';
import { acceptedCodings, type EncodedBody, formFor, weightOf } from '../../shared/http/content-coding.ts';
import type { ConsoleAction } from '../../shared/questions/console-action.ts';
import type { AdminRefusal } from './admin-access.ts';
import type { Answers } from './answers.ts';

/** A file of the console, in all its encodings. */
export interface ConsoleFile extends EncodedBody {
  readonly type: string;
  readonly cacheControl: string;
}

/**
 * Allows only resources of this listener, and therefore no inline script or style, no other host and no frame. The script handles forms.
 */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
};

const FILE_HEADERS = { 'Cross-Origin-Resource-Policy': 'same-origin' };

/** Shorter texts are not compressed, because they fit into one or two packets anyway. */
const COMPRESSED_FROM_BYTES = 2000;
const toGzip = promisify(gzip);

/** Creates a middleware that answers with the refusal, if there is one. */
export function refusing(refusalOf: (request: Request) => AdminRefusal | undefined) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const refusal = refusalOf(request);
    if (refusal?.status === 401) challenge(response);
    if (refusal === undefined) next();
    else response.status(refusal.status).json(refusal.body);
  };
}

export function challenge(response: Response): Response {
  return response.status(401).set('WWW-Authenticate', 'Bearer realm="admin"');
}

export function answerFound(response: Response, found: object | undefined, unknown: object): void {
  response.status(found ? 200 : 404).json(found ?? unknown);
}

/** Carries out an action. @param action the action, or the reason why the request names none */
export async function answerAction(
  action: ConsoleAction | string,
  by: string,
  response: Response,
  act: Answers['act'],
): Promise<void> {
  const { status, body } =
    typeof action === 'string'
      ? { status: 400, body: { code: 'action_invalid', error: action } }
      : await act(action, response.get('X-Request-Id') as string, by);
  response.status(status).json(body);
}

export function sendFile(file: ConsoleFile, acceptEncoding: string | undefined, response: ServerResponse): void {
  const { coding, bytes } = formFor(file, acceptEncoding);
  setAll(response, file.type.startsWith('text/html') ? PAGE_HEADERS : FILE_HEADERS);
  setAll(response, {
    ...(coding !== undefined && { 'Content-Encoding': coding }),
    'Content-Type': file.type,
    'Cache-Control': file.cacheControl,
    Vary: 'Accept-Encoding',
    'Content-Length': String(bytes.length),
  });
  response.end(bytes);
}

/**
 * Sends figures as JSON. The console reads the figures of a day every few seconds, which are tens of kilobytes. The figures are compressed,
 * because operators may have slow lines. Another thread does this, because requests must not wait.
 */
export async function sendJson(
  found: object,
  acceptEncoding: string | undefined,
  response: ServerResponse,
): Promise<void> {
  const body = Buffer.from(JSON.stringify(found));
  const isWorthwhile = body.length > COMPRESSED_FROM_BYTES && weightOf(acceptedCodings(acceptEncoding), 'gzip') > 0;
  const sent = isWorthwhile ? await toGzip(body) : body;
  setAll(response, {
    ...(isWorthwhile && { 'Content-Encoding': 'gzip' }),
    'Content-Type': 'application/json; charset=utf-8',
    Vary: 'Accept-Encoding',
    'Content-Length': String(sent.length),
  });
  response.end(sent);
}

function setAll(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
