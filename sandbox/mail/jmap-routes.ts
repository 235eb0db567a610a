// Everything under `/jmap`: session, requests, uploads, downloads, the event stream and the WebSocket.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Account, Login } from './accounts.ts';
import {
  forbidden,
  invalidParameters,
  json,
  limited,
  type MailAnswer,
  noSuchResource,
  requestError,
  tooManyAttempts,
} from './answers.ts';
import type { Bans } from './bans.ts';
import type { Blobs } from './blobs.ts';
import { readMailBody } from './body.ts';
import type { EventSource } from './event-source.ts';
import type { AnswerJmap } from './jmap.ts';
import { lastOf } from './query.ts';
import type { Rates } from './rates.ts';
import { accountIdOf, REQUEST_BYTES_MAX, sessionOf, UPLOAD_BYTES_MAX } from './session.ts';

interface Parts {
  readonly login: Login;
  readonly rates: Rates;
  readonly bans: Bans;
  readonly blobs: Blobs;
  readonly eventSource: EventSource;
  readonly answerJmap: AnswerJmap;
  /** Where the server's own URLs begin. */
  origin(): string;
}

export interface JmapArrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly address: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** An answer, or undefined when the response was taken over. @throws Refused */
export type JmapRoute = (arrived: JmapArrived) => Promise<MailAnswer | undefined>;

const UPLOAD = /^\/jmap\/upload\/([^/]+)\/?$/;
const DOWNLOAD = /^\/jmap\/download\/(u\d+)\/([a-z]+[0-9a-f]+)\/([^/]+)$/;
const HEADER_TEXT = /^[\x20-\x7e]+$/;

export function createJmapRoute({ login, rates, bans, blobs, eventSource, answerJmap, origin }: Parts): JmapRoute {
  async function answerRequest(account: Account, request: IncomingMessage): Promise<MailAnswer> {
    const body = await readMailBody(request, REQUEST_BYTES_MAX);
    if (!body) throw limited('maxSizeRequest');
    if (body.length === 0) throw requestError('notJSON', 'There is no text.');
    return json(200, await answerJmap(body.toString(), { accountId: accountIdOf(account), name: account.name }));
  }

  async function upload(account: Account, request: IncomingMessage): Promise<MailAnswer> {
    const leave = rates.enterUpload(account);
    const accountId = accountIdOf(account);
    const bytesMax = account.permissions.has('unlimited-uploads') ? Number.POSITIVE_INFINITY : UPLOAD_BYTES_MAX;
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
      leave();
      throw limited('maxSizeUpload');
    }
    try {
      const { id, size } = await blobs.keep(accountId, request, bytesMax);
      return json(200, { accountId, blobId: id, type: request.headers['content-type'] ?? null, size });
    } finally {
      leave();
    }
  }

  function download(account: Account, [blobId = '', name = '']: readonly string[], arrived: JmapArrived): undefined {
    const { response, query } = arrived;
    const blob = blobs.open(accountIdOf(account), blobId);
    if (!blob) throw noSuchResource();
    // The caller chooses the type.
    const accept = lastOf(query, 'accept') ?? '';
    response.writeHead(200, {
      'content-type': HEADER_TEXT.test(accept) ? accept : 'application/octet-stream',
      'content-length': blob.size,
      'content-disposition': `attachment; filename="${name.replaceAll(/[^\w.%-]/g, '_')}"`,
      'cache-control': 'private, immutable, max-age=31536000',
    });
    blob.content.pipe(response);
    blob.content.on('error', () => response.destroy());
    response.once('close', () => blob.content.destroy());
  }

  /** Which account a path names is not the caller's choice. */
  function checkOwn(account: Account, accountId: string | undefined): void {
    if (accountId !== accountIdOf(account)) throw forbidden();
  }

  async function dispatch(account: Account, arrived: JmapArrived): Promise<MailAnswer | undefined> {
    const { request, response, address, path, query } = arrived;
    const { method } = request;
    const [, uploadTo] = (method === 'POST' && UPLOAD.exec(path)) || [];
    const [, downloadFrom, ...blob] = (method === 'GET' && DOWNLOAD.exec(path)) || [];
    if (method === 'POST' && (path === '/jmap' || path === '/jmap/')) return answerRequest(account, request);
    if (uploadTo !== undefined) {
      checkOwn(account, uploadTo);
      return upload(account, request);
    }
    if (downloadFrom !== undefined) {
      checkOwn(account, downloadFrom);
      return download(account, blob, arrived);
    }
    if (method === 'GET' && path === '/jmap/session') return sessionOf(origin(), account);
    if (method === 'GET' && /^\/jmap\/eventsource\/?$/.test(path)) {
      eventSource.open(accountIdOf(account), query, response);
      return undefined;
    }
    // A correct upgrade request never comes here.
    if (method === 'GET' && path === '/jmap/ws') throw invalidParameters('WebSocket upgrade failed.');
    // A download without a readable account or blob is nothing that it serves.
    throw bans.scanned(address, path) ? tooManyAttempts() : noSuchResource();
  }

  return async function route(arrived) {
    const { request, address, path } = arrived;
    const { authorization } = request.headers;
    if (authorization === undefined && request.method === 'GET' && path === '/jmap/session')
      return sessionOf(origin(), undefined);
    const account = await login(authorization, address, true);
    const leave = rates.enter(account);
    try {
      return await dispatch(account, arrived);
    } finally {
      leave();
    }
  };
}
