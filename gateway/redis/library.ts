// Loads the library of Redis when the first connection is opened: a start without Redis does without its 60 files.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The library; loaded once. */
export const redisLibrary = () => require('ioredis') as typeof import('ioredis');
