// An upstream that keeps every byte that reached it, and reads them with the strict reader: unreadable bytes are kept as an objection.

import { createServer } from 'node:net';
import { httpAnswer } from './scripted-upstream.ts';
import { readStrictly, type StrictRequest } from './strict-http.ts';
import { listening } from './upstream.ts';

export interface RecordingUpstream {
  readonly url: string;
  readonly requests: readonly StrictRequest[];
  /** The faults of the arrived bytes. */
  readonly objections: string[];
  /** The bytes that had not become a request when their connection ended. */
  readonly truncated: string[];
  /** Sets the bytes, as Latin-1, of the answer to requests from now on. Default: an empty object. */
  answers(bytes: string | ((request: StrictRequest) => string)): void;
  /** Takes and forgets the requests that were recorded. */
  take(): StrictRequest[];
  close(): Promise<void>;
}

export async function startRecordingUpstream(): Promise<RecordingUpstream> {
  const requests: StrictRequest[] = [];
  const objections: string[] = [];
  const truncated: string[] = [];
  let answerTo = (_request: StrictRequest) => httpAnswer(200, '{}');

  const server = createServer((socket) => {
    let unread = Buffer.alloc(0);
    socket.on('close', () => {
      if (unread.length > 0) truncated.push(unread.toString('latin1'));
    });
    socket.on('data', (chunk) => {
      unread = Buffer.concat([unread, chunk]);
      try {
        for (let read = readStrictly(unread); read; read = readStrictly(unread)) {
          unread = unread.subarray(read.text.length);
          requests.push(read);
          socket.write(Buffer.from(answerTo(read), 'latin1'));
        }
      } catch (error) {
        objections.push((error as Error).message);
        unread = Buffer.alloc(0);
        socket.destroy();
      }
    });
  });
  const { url, close } = await listening(server);

  return {
    url,
    requests,
    objections,
    truncated,
    answers(bytes) {
      answerTo = typeof bytes === 'string' ? () => bytes : bytes;
    },
    take: () => requests.splice(0),
    close,
  };
}
