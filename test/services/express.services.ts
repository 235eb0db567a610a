// An Express service behind the gateway: the document that swagger-jsdoc collects from its comments, unmodified, and an entry of defaults.

import { describe } from 'node:test';
import { END, everywhere, form, json, multipart, part, refusedByContract } from './support/calls.ts';
import { startNodeService } from './support/stand.ts';
import { type ComparedCall, compares } from './support/suite.ts';

const undeclaredHeader = {
  'x-total-count': 'a header that the document does not declare crosses only where the entry names it',
};
const defaultsAreSent = {
  bytes: 'the service returns its query, and the gateway fills in the defaults of the document',
  etag: 'it is one of the bytes',
};
const cookiesStayOut = { 'set-cookie': 'cookies cross only where the entry names them' };

const calls: Record<string, ComparedCall> = {
  'a list': { path: '/orders', differs: { ...defaultsAreSent, ...undeclaredHeader } },
  'a list with parameters': { path: '/orders?page=2&state=open', differs: undeclaredHeader },
  'a value outside of an enumeration': { path: '/orders?state=lost', differs: refusedByContract },
  'a record is created': { method: 'POST', path: '/orders', headers: json, body: '{"item":"bolt"}' },
  'a record breaks its schema': {
    method: 'POST',
    path: '/orders',
    headers: json,
    body: '{"item":7}',
    differs: refusedByContract,
  },
  'a record is read': { path: '/orders/7' },
  'a record that is missing': { path: '/orders/404' },
  'a record is deleted': { method: 'DELETE', path: '/orders/7' },
  'a form with brackets': { method: 'POST', path: '/search', headers: form, body: 'text=a+b&filter[state]=open' },
  'an upload': {
    method: 'POST',
    path: '/photos',
    headers: multipart,
    body: `${part('name="photo"; filename="a.jpg"', 'bytes', 'image/jpeg')}${part('name="title"', 'A')}${END}`,
  },
  'a file': { path: '/manual' },
  'a range of a file': { path: '/manual', headers: { range: 'bytes=100-199' } },
  'a range behind the end of a file': { path: '/manual', headers: { range: 'bytes=9000000-' } },
  'a file to a client that accepts gzip': { path: '/manual', headers: { 'accept-encoding': 'gzip' } },
  'a page that is not declared': { path: '/home' },
  'a long answer to a client that accepts gzip': { path: '/words', headers: { 'accept-encoding': 'gzip' } },
  'a long answer to a browser': { path: '/words', headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } },
  'server-sent events': { path: '/feed', headers: { accept: 'text/event-stream' } },
  'a cookie': {
    path: '/visit',
    headers: { cookie: 'visits=1' },
    differs: { ...cookiesStayOut, bytes: cookiesStayOut['set-cookie'], etag: 'it is one of the bytes' },
  },
  'a redirect': { path: '/old' },
  'an image': { path: '/pixel' },
  'a fault of the service': { path: '/fault' },
};

describe('Express', () => {
  compares({
    start: (report) => startNodeService('express.js', { REPORT_FILE: report }),
    scope: 'orders:read',
    calls,
    everywhere,
  });
});
