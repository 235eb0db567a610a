// A service that answers as Starlette does with FileResponse and StreamingResponse: validators, ranges, and chunks without a media type.

import { createHash } from 'node:crypto';
import type { Answer } from './upstream.ts';

export const FILE = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
export const MODIFIED = 'Fri, 20 Nov 2026 16:00:00 GMT';
export const ETAG = `"${createHash('md5').update(FILE).digest('hex')}"`;

/** The document that FastAPI generates for these routes: a handler without a response model is declared as JSON. */
export const fileDocument = {
  openapi: '3.1.0',
  info: { title: 'FastAPI', version: '0.1.0' },
  paths: Object.fromEntries(
    ['/file', '/stream', '/page', '/picture', '/old'].map((path) => [
      path,
      {
        get: {
          summary: 'Read',
          operationId: `read_${path.slice(1)}`,
          responses: { 200: { description: 'Successful Response', content: { 'application/json': { schema: {} } } } },
        },
      },
    ]),
  ),
};

export const answerAsFileService: Answer = (request, response, raw) => {
  const { pathname } = new URL(request.url, 'http://any');
  if (pathname === '/file') return answerFile(request, response, raw);
  if (pathname === '/stream') {
    response.writeHead(200);
    response.write('one\n');
    response.end('two\n');
    return;
  }
  if (pathname === '/old') {
    response.writeHead(307, { location: `http://${request.headers.host}/file`, 'content-length': '0' }).end();
    return;
  }
  const isPage = pathname === '/page';
  response.writeHead(200, { 'content-type': isPage ? 'text/html; charset=utf-8' : 'image/svg+xml' });
  response.end(isPage ? '<script>alert(1)</script>' : '<svg xmlns="http://www.w3.org/2000/svg"/>');
};

/** Answers ranges of one part, conditions by ETag, and HEAD (RFC 9110 sections 13 and 14). */
const answerFile: Answer = ({ method, headers }, response) => {
  const shared = { 'accept-ranges': 'bytes', etag: ETAG, 'last-modified': MODIFIED };
  const type = { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename="file.zip"' };
  if (headers['if-none-match'] === ETAG) {
    response.writeHead(304, shared).end();
    return;
  }
  const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? [];
  const isCurrent = headers['if-range'] === undefined || headers['if-range'] === ETAG;
  if (method === 'GET' && first !== undefined && isCurrent) {
    const from = Number(first);
    const to = Math.min(last === '' || last === undefined ? FILE.length : Number(last) + 1, FILE.length);
    if (from >= FILE.length) {
      response.writeHead(416, { 'content-range': `bytes */${FILE.length}`, 'content-type': 'text/plain' }).end('no');
      return;
    }
    const part = { 'content-range': `bytes ${from}-${to - 1}/${FILE.length}`, 'content-length': to - from };
    response.writeHead(206, { ...shared, ...type, ...part }).end(FILE.subarray(from, to));
    return;
  }
  response.writeHead(200, { ...shared, ...type, 'content-length': FILE.length });
  response.end(method === 'HEAD' ? undefined : FILE);
};
