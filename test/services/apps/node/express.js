// A service as Express projects write it: its document is collected from comments by swagger-jsdoc. It has no code for the gateway.

import { fileURLToPath } from 'node:url';
import compression from 'compression';
import cookieParser from 'cookie-parser';
import express from 'express';
import multer from 'multer';
import swaggerJsdoc from 'swagger-jsdoc';

const app = express();
app.use(compression(), cookieParser(), express.json(), express.urlencoded({ extended: true }));

/**
 * @openapi
 * /orders:
 *   get:
 *     summary: List orders
 *     parameters:
 *       - { in: query, name: page, schema: { type: integer, default: 1 } }
 *       - { in: query, name: state, schema: { type: string, enum: [open, done] } }
 *     responses: { 200: { description: Orders } }
 *   post:
 *     summary: Create an order
 *     requestBody:
 *       content:
 *         application/json:
 *           schema: { type: object, required: [item], properties: { item: { type: string } } }
 *     responses: { 201: { description: Created } }
 */
app.get('/orders', (request, response) => {
  response.set('X-Total-Count', '2').json([{ id: 1, query: request.query }, { id: 2 }]);
});
app.post('/orders', (request, response) => {
  response
    .status(201)
    .location('/orders/7')
    .json({ id: 7, ...request.body });
});

/**
 * @openapi
 * /orders/{id}:
 *   parameters:
 *     - { in: path, name: id, required: true, schema: { type: string } }
 *   get:
 *     responses: { 200: { description: An order }, 404: { description: None } }
 *   delete:
 *     responses: { 204: { description: Deleted } }
 */
app.get('/orders/:id', (request, response) => {
  if (request.params.id === '404') return response.status(404).json({ message: 'No such order', code: 'NO_ORDER' });
  response.json({ id: request.params.id });
});
app.delete('/orders/:id', (_request, response) => response.status(204).end());

/**
 * @openapi
 * /search:
 *   post:
 *     requestBody:
 *       content:
 *         application/x-www-form-urlencoded:
 *           schema:
 *             type: object
 *             properties: { text: { type: string }, filter: { type: object, properties: { state: { type: string } } } }
 *     responses: { 200: { description: What was understood } }
 */
app.post('/search', (request, response) => response.json(request.body));

/**
 * @openapi
 * /photos:
 *   post:
 *     requestBody:
 *       content:
 *         multipart/form-data:
 *           schema:
 *             type: object
 *             properties: { photo: { type: string, format: binary }, title: { type: string } }
 *     responses: { 200: { description: What arrived } }
 */
app.post('/photos', multer().single('photo'), (request, response) => {
  response.json({ name: request.file?.originalname, bytes: request.file?.size, ...request.body });
});

/**
 * @openapi
 * /manual:
 *   get: { responses: { 200: { description: A file } } }
 */
app.get('/manual', (_request, response) => response.download(process.env.REPORT_FILE, 'manual.txt'));

/**
 * @openapi
 * /home:
 *   get: { responses: { 200: { description: A page } } }
 */
app.get('/home', (_request, response) => response.send('<!doctype html><title>Orders</title>'));

/**
 * @openapi
 * /words:
 *   get: { responses: { 200: { description: A long answer } } }
 */
app.get('/words', (_request, response) => response.json({ words: Array(500).fill('the same words again') }));

/**
 * @openapi
 * /feed:
 *   get: { responses: { 200: { description: Events, content: { text/event-stream: {} } } } }
 */
app.get('/feed', (_request, response) => {
  response.set('Content-Type', 'text/event-stream').flushHeaders();
  for (const number of [1, 2, 3]) response.write(`id: ${number}\ndata: {"number":${number}}\n\n`);
  response.end();
});

/**
 * @openapi
 * /visit:
 *   get:
 *     parameters: [{ in: cookie, name: visits, schema: { type: string } }]
 *     responses: { 200: { description: The cookie, and another } }
 */
app.get('/visit', (request, response) => {
  response.cookie('visits', '2', { httpOnly: true }).json({ visits: request.cookies.visits ?? null });
});

/**
 * @openapi
 * /old:
 *   get: { responses: { 302: { description: Moved } } }
 */
app.get('/old', (_request, response) => response.redirect('/orders/1'));

/**
 * @openapi
 * /pixel:
 *   get: { responses: { 200: { description: An image, content: { image/gif: {} } } } }
 */
app.get('/pixel', (_request, response) => response.type('image/gif').send(Buffer.from('GIF89a\u0001\u0000', 'latin1')));

/**
 * @openapi
 * /fault:
 *   get: { responses: { 200: { description: Never } } }
 */
app.get('/fault', () => {
  throw new Error('a fault of the service');
});

const document = swaggerJsdoc({
  definition: { openapi: '3.0.0', info: { title: 'Orders', version: '1.0.0' } },
  apis: [fileURLToPath(import.meta.url)],
});
app.get('/openapi.json', (_request, response) => response.json(document));

const server = app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
