// Converts JSON to YAML in a worker thread.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** Converts JSON to YAML in a thread. Rejects if the thread fails. @param json one JSON object */
export async function toYaml(json: Uint8Array): Promise<Buffer> {
  const thread = new Worker(new URL('./yaml-thread.ts', import.meta.url));
  try {
    thread.postMessage(json);
    const [yaml] = (await once(thread, 'message')) as [Uint8Array];
    return Buffer.from(yaml);
  } finally {
    await thread.terminate();
  }
}
