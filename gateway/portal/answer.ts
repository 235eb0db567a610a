// Sends published resources, with caching, conditional requests, compression and browser security headers.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { formFor } from '../shared/http/content-coding.ts';
import { LASTING } from '../shared/http/content-version.ts';
import type { PortalResource, PortalResourceKind } from './resource.ts';

/** Allows only resources from the gateway itself, and no inline scripts or styles, no other host, no frames and no forms. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS: Readonly<Record<PortalResourceKind, Readonly<Record<string, string>>>> = {
  page: {
    'Content-Security-Policy': PAGE_POLICY,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  },
  asset: { 'Cross-Origin-Resource-Policy': 'same-origin' },
  document: {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'ETag, X-Request-Id',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  },
};

/**
 * Answers GET and HEAD (RFC 9110 sections 9.3.1 and 9.3.2). Keeps headers that are already set on the response, except the headers that are
 * set here.
 *
 * @param isLasting true if the resource at this address never changes
 */
export function answerWith(
  resource: PortalResource,
  request: IncomingMessage,
  response: ServerResponse,
  isLasting = false,
): void {
  const { status, kind, type, etag } = resource;
  for (const [name, value] of Object.entries(HEADERS[kind])) response.setHeader(name, value);
  // Clients store the resource and revalidate it, and get no body if it is unchanged. A 404 is not stored, because the page may exist soon.
  const known = isLasting ? LASTING : 'public, max-age=60, must-revalidate';
  response.setHeader('Cache-Control', status === 200 ? known : 'no-store');
  // Pages of every origin may read a document, without credentials, regardless of the configured CORS.
  if (kind === 'document') response.removeHeader('Access-Control-Allow-Credentials');
  addVary(response, 'Accept-Encoding');
  if (status === 200) {
    response.setHeader('ETag', etag);
    if (isKnown(request.headers['if-none-match'], etag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
  }
  const { coding, bytes } = formFor(resource, request.headers['accept-encoding']);
  response.statusCode = status;
  if (status === 404) response.setHeader('X-Error-Code', 'route_not_found');
  response.setHeader('Content-Type', type);
  if (coding !== undefined) response.setHeader('Content-Encoding', coding);
  response.setHeader('Content-Length', bytes.length);
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Keeps what the header names already. */
export function addVary(response: ServerResponse, name: string): void {
  const present = response.getHeader('Vary');
  response.setHeader('Vary', present === undefined ? name : `${present}, ${name}`);
}

/** Compares weakly (RFC 9110 section 13.1.2). */
function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((one) => one.trim().replace(/^W\//, '') === etag.slice(2));
}
