// Calendars and address books under `/dav` (RFC 4791, RFC 6352), as far as a client notices: items that are kept in memory, a listing of
// them, and the answers of every method. OPTIONS needs no login.
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Login } from './accounts.ts';
import { type MailAnswer, Refused } from './answers.ts';
import { API_BODY_BYTES_MAX, readMailBody } from './body.ts';
import type { Rates } from './rates.ts';

/** @throws Refused */
export type DavRoute = (request: IncomingMessage, address: string, path: string) => Promise<MailAnswer>;

interface Parts {
  readonly login: Login;
  readonly rates: Rates;
}

interface Exchange {
  readonly method: string;
  /** As sent. */
  readonly path: string;
  readonly body: string;
  /** The path that Destination names. */
  readonly destination: string | undefined;
}

const FEATURES = '1, 2, 3, access-control, extended-mkcol, calendar-access, calendar-no-timezone, addressbook';
const METHODS = [
  ...['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'COPY', 'MOVE', 'MKCALENDAR', 'MKCOL', 'PROPFIND'],
  ...['PROPPATCH', 'LOCK', 'UNLOCK', 'REPORT', 'ACL'],
];
const RESOURCE = /^\/dav\/(?:cal|card|file|pal|itip)(?:\/([^/]*))?/;
const ITEMS_MAX = 1000;

export function createDavRoute({ login, rates }: Parts): DavRoute {
  /** Content by path. */
  const items = new Map<string, string>();

  function keep(path: string, content: string): MailAnswer {
    const status = items.has(path) ? 204 : 201;
    if (items.size >= ITEMS_MAX) items.delete(items.keys().next().value as string);
    items.set(path, content);
    return empty(status, { etag: etagOf(content) });
  }

  function relocate({ method, path, destination }: Exchange): MailAnswer {
    const content = items.get(path);
    if (content === undefined) return empty(404);
    if (destination === undefined || !RESOURCE.test(destination)) return empty(502);
    if (method === 'MOVE') items.delete(path);
    return keep(destination, content);
  }

  function list(path: string): MailAnswer {
    const below = [...items.keys()].filter((one) => one.startsWith(path));
    const found = items.has(path) || below.length > 0 || path.endsWith('/') ? [...new Set([path, ...below])] : [];
    return found.length === 0 ? empty(404) : multiStatus(found);
  }

  function read(path: string): MailAnswer {
    const content = items.get(path);
    if (content === undefined) return empty(404);
    const type = path.startsWith('/dav/card') ? 'text/vcard' : 'text/calendar';
    return { status: 200, headers: { 'content-type': `${type}; charset=utf-8`, etag: etagOf(content) }, body: content };
  }

  function answer(exchange: Exchange): MailAnswer {
    const { method, path, body } = exchange;
    switch (method) {
      case 'GET':
      case 'HEAD':
        return read(path);
      case 'PUT':
        return keep(path, body);
      case 'DELETE':
        return empty(items.delete(path) ? 204 : 404);
      case 'COPY':
      case 'MOVE':
        return relocate(exchange);
      case 'MKCALENDAR':
      case 'MKCOL':
        return empty(201);
      case 'PROPFIND':
      case 'REPORT':
        return list(path);
      case 'PROPPATCH':
        return multiStatus([path]);
      case 'LOCK':
        return { ...xml(200, '<D:prop xmlns:D="DAV:"/>'), headers: { 'lock-token': `<urn:uuid:${randomUUID()}>` } };
      case 'UNLOCK':
        return empty(204);
      default:
        return empty(200);
    }
  }

  return async function route(request, address, path) {
    const { method = '', headers } = request;
    if (!METHODS.includes(method)) return empty(405);
    const resource = RESOURCE.exec(path);
    if (!resource) return empty(404);
    if (method === 'OPTIONS') return empty(200, { dav: FEATURES, allow: METHODS.join(', ') });
    const account = await login(headers.authorization, address, true);
    const leave = rates.enter(account);
    try {
      const [, owner = ''] = resource;
      if (owner !== '' && decodeURIComponent(owner) !== account.name) throw new Refused(noPrivilege(path));
      const body = (await readMailBody(request, API_BODY_BYTES_MAX))?.toString() ?? '';
      return answer({ method, path, body, destination: pathIn(headers.destination) });
    } finally {
      leave();
    }
  };
}

/** Of an address or a path: the host that it names makes no difference. */
function pathIn(destination: string | string[] | undefined): string | undefined {
  return typeof destination === 'string' ? /\/dav\/.*$/.exec(destination)?.[0] : undefined;
}

const empty = (status: number, headers: MailAnswer['headers'] = {}): MailAnswer => ({ status, headers, body: '' });

function xml(status: number, body: string): MailAnswer {
  const headers = { 'content-type': 'application/xml; charset=utf-8' };
  return { status, headers, body: `<?xml version="1.0" encoding="UTF-8"?>${body}` };
}

function multiStatus(paths: readonly string[]): MailAnswer {
  const responses = paths.map(
    (path) =>
      `<D:response><D:href>${path}</D:href><D:propstat><D:prop/><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`,
  );
  return xml(207, `<D:multistatus xmlns:D="DAV:">${responses.join('')}</D:multistatus>`);
}

function noPrivilege(path: string): MailAnswer {
  const need = `<D:need-privileges><D:resource><D:href>${path}</D:href></D:resource></D:need-privileges>`;
  return xml(403, `<D:error xmlns:D="DAV:">${need}</D:error>`);
}

const etagOf = (content: string): string =>
  `"${createHash('sha256').update(content).digest('base64url').slice(0, 16)}"`;
