// Changes of an organization's files, as server-sent events. A client that comes back names the last event that it got and receives those
// since, as far as they are remembered.
import type { ServerResponse } from 'node:http';
import type { Scope } from '../store.ts';

export interface FileChange {
  readonly type: 'file.saved' | 'file.deleted';
  readonly name: string;
  readonly at: string;
}

export type FileListener = (change: FileChange, id: number) => void;

export interface FileChanges {
  tell(scope: Scope, change: FileChange): void;
  /** The returned function ends it. */
  listen(scope: Scope, listener: FileListener): () => void;
  /** Answers with a stream of events that ends with the connection. `lastId` is that of the last event that the client got. */
  stream(scope: Scope, lastId: number | undefined, response: ServerResponse): void;
  /** Ends all streams. */
  close(): void;
}

const REMEMBERED_MAX = 100;

export function createFileChanges(): FileChanges {
  let latest = 0;
  const remembered = new Map<Scope, { readonly id: number; readonly change: FileChange }[]>();
  const listeners = new Map<Scope, Set<FileListener>>();
  const streams = new Set<ServerResponse>();

  function listen(scope: Scope, listener: FileListener): () => void {
    const all = listeners.get(scope) ?? new Set();
    listeners.set(scope, all.add(listener));
    return () => {
      all.delete(listener);
      if (all.size === 0) listeners.delete(scope);
    };
  }

  return {
    listen,
    tell(scope, change) {
      const id = ++latest;
      remembered.set(scope, [...(remembered.get(scope) ?? []), { id, change }].slice(-REMEMBERED_MAX));
      for (const listener of listeners.get(scope) ?? []) listener(change, id);
    },
    stream(scope, lastId, response) {
      streams.add(response);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      const send: FileListener = ({ type, ...data }, id) =>
        response.write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
      // Clients know from it that the stream is open, and how soon to come back.
      response.write('retry: 1000\n\n');
      for (const { id, change } of lastId === undefined ? [] : (remembered.get(scope) ?? []))
        if (id > (lastId ?? 0)) send(change, id);
      const stop = listen(scope, send);
      response.once('close', () => {
        stop();
        streams.delete(response);
      });
    },
    close() {
      for (const response of streams) response.destroy();
    },
  };
}
