// Bare express with http-proxy-middleware and nothing else, as it comes: connections to the upstream are kept, up to 256 of them.

import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';

const [port, upstream] = process.argv.slice(2);

const app = express();
app.use(createProxyMiddleware({ target: upstream as string, changeOrigin: true }));
app.listen(Number(port), '127.0.0.1').keepAliveTimeout = 60_000;
