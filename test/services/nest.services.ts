// A NestJS service behind the gateway: the document that @nestjs/swagger generates, unmodified, and an entry of defaults.

import { describe } from 'node:test';
import { END, everywhere, json, multipart, part } from './support/calls.ts';
import { startNodeService } from './support/stand.ts';
import { type ComparedCall, compares } from './support/suite.ts';

const calls: Record<string, ComparedCall> = {
  'a list': { path: '/cats' },
  'a list with a parameter': { path: '/cats?limit=3' },
  'a record is created': { method: 'POST', path: '/cats', headers: json, body: '{"name":"Ada","age":3}' },
  'a record breaks its schema': { method: 'POST', path: '/cats', headers: json, body: '{"name":"","age":-1}' },
  'a record is read': { path: '/cats/3' },
  'a record that is missing': { path: '/cats/300' },
  'an identifier that is no number': { path: '/cats/three' },
  'a record is deleted': { method: 'DELETE', path: '/cats/3' },
  'an upload': {
    method: 'POST',
    path: '/cats/photo',
    headers: multipart,
    body: `${part('name="photo"; filename="a.jpg"', 'bytes', 'image/jpeg')}${END}`,
  },
  'a file': { path: '/cats/photo' },
  'server-sent events': {
    path: '/cats/purrs',
    headers: { accept: 'text/event-stream' },
    differs: { pragma: 'it has no meaning in an answer (RFC 9111, section 5.4); Cache-Control crosses' },
  },
  'a redirect': { path: '/cats/first' },
  'a fault of the service': { path: '/cats/fault' },
};

describe('NestJS', () => {
  compares({
    start: (report) => startNodeService('nest.js', { REPORT_FILE: report }),
    scope: 'cats:read',
    calls,
    everywhere,
  });
});
