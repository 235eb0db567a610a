// Chooses the part of the mail server for a request. A path with a known first segment is routed or 404; every other path, with any method,
// answers the index page of the web panel.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { AddressOf } from './address.ts';
import type { Administration } from './administration.ts';
import {
  bareAnswer,
  invalidParameters,
  type MailAnswer,
  noSuchResource,
  phrased,
  type Refused,
  redirect,
  tooManyAttempts,
} from './answers.ts';
import type { Bans } from './bans.ts';
import { API_BODY_BYTES_MAX, readMailBody } from './body.ts';
import type { DavRoute } from './dav.ts';
import type { JmapRoute } from './jmap-routes.ts';
import type { OAuth } from './oauth.ts';
import { INDEX_PAGE, LOGIN_PAGE } from './pages.ts';
import type { Rates } from './rates.ts';
import { oauthMetadataOf } from './session.ts';
import type { SettingsPages } from './settings-pages.ts';

interface Parts {
  readonly administer: Administration;
  readonly jmap: JmapRoute;
  readonly oauth: OAuth;
  readonly dav: DavRoute;
  readonly settingsPages: SettingsPages;
  readonly bans: Bans;
  readonly rates: Rates;
  readonly addressOf: AddressOf;
  origin(): string;
  /** Counts a request that the HTTP library refuses. */
  countMalformed(socket: Socket): void;
}

/** An answer, or undefined when the response was taken over. @throws Refused */
export type MailRoute = (request: IncomingMessage, response: ServerResponse) => Promise<MailAnswer | undefined>;

const TARGET_BYTES_MAX = 65_534;
const HEADERS_MAX = 100;
/** What the HTTP library takes in no target. */
const NO_URI = /[<>]/;
const ALWAYS_ROUTED = ['api', 'dav'];
const KNOWN = [
  ...ALWAYS_ROUTED,
  'jmap',
  'auth',
  '.well-known',
  'mail',
  'autodiscover',
  'calendar',
  'form',
  'healthz',
  'metrics',
  'robots.txt',
  'logo.svg',
];

export function createMailRoute(parts: Parts): MailRoute {
  const { administer, jmap, oauth, dav, settingsPages, bans, rates, addressOf, origin } = parts;

  async function onToken(request: IncomingMessage, address: string, path: string): Promise<MailAnswer> {
    rates.countAnonymous(address);
    const body = await readMailBody(request, API_BODY_BYTES_MAX);
    if (!body) throw invalidParameters();
    const form = new URLSearchParams(body.toString());
    return path === '/auth/device' ? oauth.device(form, origin()) : oauth.token(form);
  }

  function onWellKnown(method: string | undefined, address: string, path: string): MailAnswer | undefined {
    // With any method.
    if (path === '/.well-known/caldav') return redirect('/dav/cal');
    if (path === '/.well-known/carddav') return redirect('/dav/card');
    if (method !== 'GET') return undefined;
    if (path === '/.well-known/jmap') return redirect('/jmap/session');
    if (path !== '/.well-known/oauth-authorization-server') return undefined;
    rates.countAnonymous(address);
    return oauthMetadataOf(origin());
  }

  /** A path that only a scanner requests ends in a ban, unless it is routed anyway. */
  function unrouted(first: string, address: string, path: string): Refused {
    if (!ALWAYS_ROUTED.includes(first) && bans.scanned(address, path)) return tooManyAttempts();
    return noSuchResource();
  }

  function refusedByLibrary(request: IncomingMessage, status: number): MailAnswer {
    parts.countMalformed(request.socket);
    return bareAnswer(status);
  }

  return async function route(request, response) {
    const target = request.url ?? '';
    if (target.length > TARGET_BYTES_MAX) return bareAnswer(414);
    if (NO_URI.test(target)) return refusedByLibrary(request, 400);
    if (request.rawHeaders.length > HEADERS_MAX * 2) return refusedByLibrary(request, 431);
    const { path, query } = splitMailTarget(target);
    const address = addressOf(request);

    const { method } = request;
    const first = path.split('/')[1] ?? '';
    if (first === 'api') return administer({ request, address, path, query });
    if (first === 'jmap') {
      // Its own paths are few, and a scanner's are none of them, apart from names of downloads, which are looked at after the login.
      const isDownload = method === 'GET' && path.startsWith('/jmap/download/');
      if (!isDownload && bans.scanned(address, path)) throw tooManyAttempts();
      return jmap({ request, response, address, path, query });
    }
    if (first === 'dav') return dav(request, address, path);
    if (method === 'POST' && (path === '/auth/device' || path === '/auth/token'))
      return onToken(request, address, path);
    if (method === 'GET' && path === '/auth/jwks.json') return oauth.keys();
    const answered = first === '.well-known' ? onWellKnown(method, address, path) : undefined;
    const page = answered ?? (await settingsPages({ request, address, path, query }));
    if (page) return page;
    if (method === 'GET' && /^\/healthz\/(?:live|ready)$/.test(path)) {
      rates.countAnonymous(address);
      return phrased(200);
    }
    if (method === 'GET' && path === '/login') return LOGIN_PAGE;
    if (KNOWN.includes(first)) throw unrouted(first, address, path);
    return INDEX_PAGE;
  };
}

export function splitMailTarget(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  return { path, query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)) };
}
