// A Fastify service behind the gateway: the document that @fastify/swagger makes of its routes, unmodified, and an entry of defaults.

import { describe } from 'node:test';
import { everywhere, form, json } from './support/calls.ts';
import { startNodeService } from './support/stand.ts';
import { type ComparedCall, compares } from './support/suite.ts';

const calls: Record<string, ComparedCall> = {
  'a list': { path: '/books' },
  'a list with parameters': { path: '/books?limit=3&author=a&author=b' },
  'a record is created': { method: 'POST', path: '/books', headers: json, body: '{"title":"A","pages":3}' },
  'a record breaks its schema': { method: 'POST', path: '/books', headers: json, body: '{"pages":0}' },
  'a record is read': { path: '/books/3' },
  'a record that is missing': { path: '/books/300' },
  'an identifier that is no integer': { path: '/books/three' },
  'a record is replaced': { method: 'PUT', path: '/books/3', headers: json, body: '{"title":"B"}' },
  'a record is deleted': { method: 'DELETE', path: '/books/3' },
  'a form': { method: 'POST', path: '/notes', headers: form, body: 'text=a+b' },
  'an image': { path: '/cover' },
  'a stream of text': { path: '/text' },
  'server-sent events': { path: '/ticks', headers: { accept: 'text/event-stream' } },
  'a cookie': {
    path: '/reader',
    headers: { cookie: 'reader=eve' },
    differs: { bytes: 'cookies cross only where the entry names them', 'set-cookie': 'as above' },
  },
  'a redirect': { path: '/latest' },
  'a fault of the service': { path: '/fault' },
};

describe('Fastify', () => {
  compares({
    start: (report) => startNodeService('fastify.js', { REPORT_FILE: report }),
    scope: 'books:read',
    calls,
    everywhere,
  });
});
