// A Fastify service behind the gateway: the document that @fastify/swagger makes of its routes, unmodified, and an entry of defaults.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import { everywhere, form, json } from './support/calls.ts';
import { documentOf, putBehindGateway, type Stand, startNodeService } from './support/stand.ts';
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
  let directory: string;
  let document: string;
  let stand: Stand;

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'services-'));
    const report = join(directory, 'report.txt');
    writeFileSync(report, 'A line of a report that is long enough to be worth the while.\n'.repeat(1000));
    const service = await startNodeService('fastify.js', { REPORT_FILE: report });
    document = await documentOf(service);
    stand = await putBehindGateway(service, document, { security: { apiKey: ['books:read'] } });
  });

  after(async () => {
    await stand?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  compares({ stand: () => stand, document: () => document, calls, everywhere });
});
