// A FastAPI service behind the gateway: the document that FastAPI generates, unmodified, and an entry of defaults.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { hasPython, pythonFor, sourcesOf } from './support/packages.ts';
import { putBehindGateway, type Service, type Stand, startService } from './support/stand.ts';
import { type ComparedCall, compares } from './support/suite.ts';
import { send } from './support/wire.ts';

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const multipart = { 'content-type': 'multipart/form-data; boundary=border' };

function part(disposition: string, content: string, type?: string): string {
  const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  return `--border\r\nContent-Disposition: form-data; ${disposition}\r\n${typed}\r\n${content}\r\n`;
}

/** The gateway refuses what breaks the contract, so that the service does not see it. FastAPI says 422 there. */
const refusedByContract = { status: 'the gateway refuses the request itself, with 400' };
const undeclared = {
  status: 'to be mended: the document declares application/json, and the gateway refuses the answer',
};

const calls: Record<string, ComparedCall> = {
  'a list with its defaults': { path: '/items' },
  'a list with parameters': { path: '/items?skip=2&limit=3&tags=a&tags=b&since=2026-01-31' },
  'a list with a limit that is too large': { path: '/items?limit=1000', differs: refusedByContract },
  'a record is created': { method: 'POST', path: '/items', headers: json, body: '{"name":"bolt","quantity":3}' },
  'a record breaks its schema': {
    method: 'POST',
    path: '/items',
    headers: json,
    body: '{"name":"","quantity":-3}',
    differs: refusedByContract,
  },
  'a body that is not JSON': {
    method: 'POST',
    path: '/items',
    headers: json,
    body: '{"name":',
    differs: refusedByContract,
  },
  'a record is read': { path: '/items/3' },
  'a record that is missing': { path: '/items/300' },
  'an identifier that is no integer': { path: '/items/three', differs: refusedByContract },
  'a record is replaced': {
    method: 'PUT',
    path: '/items/3',
    headers: json,
    body: '{"name":"nut","kind":"nut","quantity":1,"tags":["a"],"dimensions":{"width":1.5}}',
  },
  'a record is changed': { method: 'PATCH', path: '/items/3', headers: json, body: '{"quantity":9}' },
  'a record is deleted': { method: 'DELETE', path: '/items/3' },
  'a value of an enumeration': { path: '/kinds/nut' },
  'a value outside of an enumeration': { path: '/kinds/screw', differs: refusedByContract },
  'a form': { method: 'POST', path: '/login', headers: form, body: 'username=ada&password=long%20enough' },
  'a form that breaks its schema': { method: 'POST', path: '/login', headers: form, body: 'username=ada&password=no' },
  'a form that is a model': { method: 'POST', path: '/login-model', headers: form, body: 'username=a&password=b' },
  'an upload': {
    method: 'POST',
    path: '/upload',
    headers: multipart,
    body: `${part('name="file"; filename="a.txt"', 'content', 'text/plain')}${part('name="note"', 'hello')}--border--\r\n`,
  },
  'an upload of several files': {
    method: 'POST',
    path: '/upload',
    headers: multipart,
    body: `${part('name="file"; filename="a.txt"', 'content', 'text/plain')}${part('name="attachments"; filename="b"', 'bb')}${part('name="attachments"; filename="c"', 'ccc')}--border--\r\n`,
  },
  'an upload without its file': {
    method: 'POST',
    path: '/upload',
    headers: multipart,
    body: `${part('name="note"', 'hello')}--border--\r\n`,
  },
  'bytes of any kind': {
    method: 'POST',
    path: '/raw',
    headers: { 'content-type': 'application/octet-stream' },
    body: Buffer.from([0, 255, 10, 13, 128]),
  },
  'a FileResponse': { path: '/report', differs: undeclared },
  'a range of a FileResponse': { path: '/report', headers: { range: 'bytes=100-199' }, differs: undeclared },
  'two ranges of a FileResponse': { path: '/report', headers: { range: 'bytes=0-9,100-199' }, differs: undeclared },
  'the last bytes of a FileResponse': { path: '/report', headers: { range: 'bytes=-10' }, differs: undeclared },
  'a range behind the end of a FileResponse': {
    path: '/report',
    headers: { range: 'bytes=9000000-' },
    differs: undeclared,
  },
  'a range of a file that has changed': {
    path: '/report',
    headers: { range: 'bytes=100-199', 'if-range': '"old"' },
    differs: undeclared,
  },
  'a FileResponse to a client that accepts gzip': {
    path: '/report',
    headers: { 'accept-encoding': 'gzip' },
    differs: undeclared,
  },
  'a StreamingResponse': { path: '/export', differs: undeclared },
  'a StreamingResponse to a client that accepts gzip': {
    path: '/export',
    headers: { 'accept-encoding': 'gzip' },
    differs: undeclared,
  },
  'JSON lines': { path: '/lines', differs: undeclared },
  'server-sent events': { path: '/events', headers: { accept: 'text/event-stream' }, differs: undeclared },
  'server-sent events that are resumed': { path: '/events', headers: { 'last-event-id': '3' }, differs: undeclared },
  'the rest of a path': {
    path: '/tree/a/b/c.txt',
    differs: { status: 'FastAPI does not say in its document that the parameter takes slashes: the entry says it' },
  },
  'the rest of a path of one segment': { path: '/tree/c.txt' },
  'a cookie and a header': {
    path: '/whoami',
    headers: { cookie: 'session=abc', 'x-device': 'phone' },
    differs: { bytes: 'cookies of clients cross only where the entry names them' },
  },
  'a cookie is set': {
    method: 'POST',
    path: '/session',
    differs: { 'set-cookie': 'cookies of services cross only where the entry names them' },
  },
  'a redirect within the service': { path: '/moved' },
  'a redirect to another host': {
    path: '/moved-away',
    differs: { location: 'to be mended: the address may be one that only the gateway reaches' },
  },
  'an HTML page': { path: '/page', headers: { accept: 'text/html' } },
  'an HTML page that is declared as JSON': { path: '/surprise-page', differs: undeclared },
  'an SVG drawing': { path: '/drawing', differs: undeclared },
  'plain text': { path: '/text' },
  'a long answer': { path: '/long' },
  'a long answer to a client that accepts gzip': { path: '/long', headers: { 'accept-encoding': 'gzip' } },
  'a long answer to a browser': { path: '/long', headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } },
  'a status that is not declared': { path: '/accepted' },
  'an answer with a validator': { path: '/cached' },
  'an answer that has not changed': { path: '/cached', headers: { 'if-none-match': '"v1"' } },
  'headers of the service': {
    path: '/headers',
    differs: { 'x-total-count': 'a header that the document does not declare crosses only where the entry names it' },
  },
  'a refusal of an unusual kind': { path: '/teapot' },
  'a refusal with Retry-After': { path: '/busy' },
  'a refusal with a structure': { path: '/conflict' },
  'the service asks for its own credentials': {
    path: '/private',
    differs: { status: 'the service refuses the gateway, not the client' },
  },
  'a fault of the service': { path: '/failure' },
  'HEAD where FastAPI knows only GET': {
    method: 'HEAD',
    path: '/text',
    differs: {
      status: 'the gateway answers HEAD wherever there is GET (RFC 9110, section 9.1)',
      allow: 'as above',
      'content-type': 'as above',
    },
  },
};

/** Differences that hold for all calls where they occur. */
const everywhere = {
  'cache-control': 'the answer to a caller with a key is private, so that no shared cache gives it to another caller',
};

async function documentOf(service: Service): Promise<string> {
  return (await send(service.origin, { path: '/openapi.json' })).body.toString();
}

const skip = (await hasPython()) ? false : 'this machine has no python3 with venv and pip';

describe('FastAPI', { skip }, () => {
  let directory: string;
  let document: string;
  let stand: Stand;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'services-'));
    const report = join(directory, 'report.txt');
    writeFileSync(report, 'A line of a report that is long enough to be worth the while.\n'.repeat(1000));
    const service = await startService({
      file: await pythonFor('fastapi'),
      args: ['-m', 'uvicorn', 'main:app', '--host', '127.0.0.1', '--port', '0'],
      cwd: sourcesOf('fastapi'),
      environment: { REPORT_FILE: report, PYTHONDONTWRITEBYTECODE: '1' },
    });
    document = await documentOf(service);
    stand = await putBehindGateway(service, document, { security: { apiKey: ['items:read'] } });
  });

  after(async () => {
    await stand?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  compares({ stand: () => stand, document: () => document, calls, everywhere });
});
