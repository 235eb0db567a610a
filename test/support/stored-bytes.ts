// Everything that a gateway stores, as bytes, to look for what must not be among them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lookInside } from './redis.ts';

/** Returns the contents of all files below a directory. */
export function bytesBelow(directory: string): Buffer {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Buffer.concat(files.map((file) => readFileSync(file)));
}

/** All values of a Redis, as it would write them into a snapshot, which does not compress short texts. */
export async function bytesInRedis(url: string): Promise<Buffer> {
  const client = lookInside(url);
  try {
    const found: Buffer[] = [];
    for (const name of await client.keys('*')) {
      const type = await client.type(name);
      found.push(Buffer.from(name));
      if (type === 'string') found.push((await client.getBuffer(name)) ?? Buffer.alloc(0));
      else if (type === 'hash') found.push(...Object.values(await client.hgetallBuffer(name)));
      else found.push((await client.dumpBuffer(name)) ?? Buffer.alloc(0));
    }
    return Buffer.concat(found);
  } finally {
    client.disconnect();
  }
}
