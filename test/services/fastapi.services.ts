// A FastAPI service behind the gateway: the document that FastAPI generates, unmodified, and an entry of defaults.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { everywhere, form, json, multipart, part, refusedByContract } from './support/calls.ts';
import { differencesOf } from './support/compare.ts';
import { hasPython } from './support/packages.ts';
import { documentOf, openGateway, startFastApi } from './support/stand.ts';
import { type ComparedCall, compares } from './support/suite.ts';
import { send } from './support/wire.ts';

const ownBoundary = 'each answer has a boundary of its own';

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
  'a form that breaks its schema': {
    method: 'POST',
    path: '/login',
    headers: form,
    body: 'username=ada&password=no',
    differs: refusedByContract,
  },
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
    differs: refusedByContract,
  },
  'bytes of any kind': {
    method: 'POST',
    path: '/raw',
    headers: { 'content-type': 'application/octet-stream' },
    body: Buffer.from([0, 255, 10, 13, 128]),
  },
  'a FileResponse': { path: '/report' },
  'a range of a FileResponse': { path: '/report', headers: { range: 'bytes=100-199' } },
  'two ranges of a FileResponse': {
    path: '/report',
    headers: { range: 'bytes=0-9,100-199' },
    differs: { 'content-type': ownBoundary, bytes: ownBoundary },
  },
  'the last bytes of a FileResponse': { path: '/report', headers: { range: 'bytes=-10' } },
  'a range behind the end of a FileResponse': {
    path: '/report',
    headers: { range: 'bytes=9000000-' },
  },
  'a range of a file that has changed': {
    path: '/report',
    headers: { range: 'bytes=100-199', 'if-range': '"old"' },
  },
  'a FileResponse to a client that accepts gzip': {
    path: '/report',
    headers: { 'accept-encoding': 'gzip' },
  },
  'a StreamingResponse': { path: '/export' },
  'a StreamingResponse to a client that accepts gzip': {
    path: '/export',
    headers: { 'accept-encoding': 'gzip' },
  },
  'JSON lines': { path: '/lines' },
  'server-sent events': { path: '/events', headers: { accept: 'text/event-stream' } },
  'server-sent events that are resumed': { path: '/events', headers: { 'last-event-id': '3' } },
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
    differs: { location: 'the address may be one that only the gateway reaches' },
  },
  'an HTML page': { path: '/page', headers: { accept: 'text/html' } },
  'an HTML page that is declared as JSON': { path: '/surprise-page' },
  'an SVG drawing': { path: '/drawing' },
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

const skip = (await hasPython()) ? false : 'this machine has no python3 with venv and pip';

describe('FastAPI', { skip }, () => {
  const stand = compares({
    start: (report) => startFastApi({ REPORT_FILE: report }),
    scope: 'items:read',
    calls,
    everywhere,
  });

  it('with lines of the entry, headers that cross only by name are as when called directly, too', async (context) => {
    const { service } = stand();
    const entry = {
      security: { apiKey: ['items:read'] },
      cookies: ['session'],
      responseHeaders: ['X-Total-Count'],
      operations: { read_file_tree__file_path__get: { restOfPath: 'file_path' } },
    };
    const { gateway, caller, close } = await openGateway(service, await documentOf(service), entry);
    context.after(close);
    for (const name of ['the rest of a path', 'a cookie and a header', 'a cookie is set', 'headers of the service']) {
      const { differs: _, ...call } = calls[name] ?? assert.fail(name);
      const direct = await send(service.origin, call);
      const through = await send(gateway.url, { ...call, headers: { ...call.headers, ...caller } });
      const { 'cache-control': __, ...found } = differencesOf(direct, through);
      assert.deepEqual(found, {}, name);
    }
  });
});
