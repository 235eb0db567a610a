// A service as Fastify projects write it: its document comes from the schemas of its routes by @fastify/swagger. It has no code for the
// gateway.

import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import swagger from '@fastify/swagger';
import Fastify from 'fastify';

const app = Fastify();
await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'Books', version: '1.0.0' } } });
await app.register(cookie);
await app.register(formbody);

const book = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string', minLength: 1 }, pages: { type: 'integer', minimum: 1 } },
};
const id = { type: 'object', properties: { id: { type: 'integer' } } };
const query = {
  type: 'object',
  properties: { limit: { type: 'integer', default: 10 }, author: { type: 'array', items: { type: 'string' } } },
};

app.get('/books', { schema: { querystring: query } }, async ({ query }) => ({ query }));
app.post('/books', { schema: { body: book, response: { 201: book } } }, async ({ body }, reply) => {
  reply.code(201).header('location', '/books/7');
  return body;
});
app.get('/books/:id', { schema: { params: id } }, async ({ params }, reply) => {
  if (params.id > 100) return reply.code(404).send({ statusCode: 404, error: 'Not Found', message: 'No such book' });
  return { id: params.id, title: 'A book' };
});
app.put('/books/:id', { schema: { params: id, body: book } }, async ({ params, body }) => ({ ...body, ...params }));
app.delete('/books/:id', { schema: { params: id } }, async (_request, reply) => reply.code(204).send());
app.post(
  '/notes',
  {
    schema: {
      consumes: ['application/x-www-form-urlencoded'],
      body: { type: 'object', properties: { text: { type: 'string' } } },
    },
  },
  async ({ body }) => body,
);
app.get('/cover', async (_request, reply) => reply.type('image/png').send(Buffer.from([137, 80, 78, 71])));
app.get('/text', async (_request, reply) => reply.type('text/plain').send(createReadStream(process.env.REPORT_FILE)));
app.get('/ticks', async (_request, reply) => {
  const events = Readable.from([1, 2, 3].map((number) => `id: ${number}\ndata: ${number}\n\n`));
  return reply.type('text/event-stream').send(events);
});
app.get('/reader', async ({ cookies }, reply) => {
  reply.setCookie('reader', 'ada', { path: '/', httpOnly: true });
  return { reader: cookies.reader ?? null };
});
app.get('/shelf/*', { schema: { hide: true } }, async ({ params }) => ({ rest: params['*'] }));
app.get('/latest', async (_request, reply) => reply.redirect('/books/1', 303));
app.get('/fault', async () => {
  throw new Error('a fault of the service');
});
app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());

await app.listen({ host: '127.0.0.1', port: 0 });
console.log(`http://127.0.0.1:${app.server.address().port}`);
