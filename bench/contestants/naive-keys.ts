// Pure: under which name the naive composition keeps a key in Redis. The key itself is not stored.

import { createHmac } from 'node:crypto';

export function storedNameOf(key: string): string {
  return `naive-key:${createHmac('sha256', 'pepper').update(key).digest('hex')}`;
}
