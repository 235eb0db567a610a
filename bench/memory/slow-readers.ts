// Memory for clients that ask for much and read it slowly: unread bytes may wait in the upstream and in the system's socket buffers, and
// not in the gateway.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pidsOf } from '../contestants.ts';
import { runLoad } from '../load.ts';
import { residentBytesOf } from '../machine.ts';
import { CREATION, LIST, requestsOf } from '../scenarios.ts';
import { withGateway } from '../stand.ts';
import { isAtMost, megabytes, type Verdict } from './verdict.ts';

/**
 * The bytes that one reader may take: a read from the upstream (64 KiB), the bytes that wait in an answer before Node reports backpressure
 * (64 KiB), and the two connections themselves.
 */
const BYTES_PER_READER = 2 * 65_536 + 32_768;
/** A reader that has nothing else to do would be through in milliseconds. */
const STALLED_MS = 10_000;
const PAUSE_MS = 100;
const SAMPLE_MS = 250;

export function slowReaders(count: number, answerBytes: number, progress: (text: string) => void): Promise<Verdict[]> {
  const entry = { connections: count, timeoutMs: 600_000 };
  return withGateway({ pageBytes: answerBytes, entry }, async ({ gateway }) => {
    const requests = requestsOf(LIST, gateway.port, gateway.keys);
    const pids = pidsOf(gateway);
    // Everything is compiled and every connection to the upstream made, with answers that are small: long ones would leave room behind.
    const small = requestsOf(CREATION, gateway.port, gateway.keys);
    await runLoad({ port: gateway.port, connections: count, durationMs: 3000, requests: small });
    await sleep(1000);
    const before = residentBytesOf(pids);
    const growthDuring = async (act: () => Promise<unknown>): Promise<number> => {
      let most = 0;
      const sampling = setInterval(() => {
        most = Math.max(most, residentBytesOf(pids));
      }, SAMPLE_MS);
      await act();
      clearInterval(sampling);
      return most - before;
    };
    const readers: Socket[] = [];
    const stalled = await growthDuring(async () => {
      progress(`slow readers: ${count} of them read nothing for ${STALLED_MS / 1000} s`);
      for (let index = 0; index < count; index += 1) {
        readers.push(await ask(gateway.port, requests[index % requests.length] as Buffer));
      }
      await sleep(STALLED_MS);
    });
    const reading = await growthDuring(async () => {
      progress('slow readers: all of them read, little by little');
      await Promise.all(readers.map((reader) => readSlowly(reader, answerBytes)));
    });
    const bytesMax = count * BYTES_PER_READER;
    const who = `${count} readers of ${megabytes(answerBytes)}`;
    return [
      isAtMost(`${who} that do not read: growth from ${megabytes(before)}`, stalled, bytesMax),
      isAtMost(`${who} that read slowly: growth from ${megabytes(before)}`, reading, bytesMax),
    ];
  });
}

async function ask(port: number, request: Buffer): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  // A paused socket takes no bytes from the kernel.
  socket.pause();
  socket.write(request);
  return socket;
}

/** Reads one chunk at a time, until the whole answer is there. Throws if it is not the upstream's, or ends before. */
async function readSlowly(socket: Socket, bytes: number): Promise<void> {
  let arrived = 0;
  let head = '';
  await new Promise<void>((resolve, reject) => {
    socket.on('close', () =>
      reject(new Error(`A slow reader got ${arrived} bytes of ${bytes}: ${head.slice(0, 100)}`)),
    );
    socket.on('data', (chunk: Buffer) => {
      if (arrived === 0) head = chunk.toString('latin1');
      arrived += chunk.length;
      const headBytes = head.indexOf('\r\n\r\n') + 4;
      if (arrived === headBytes + bytes) {
        resolve();
        return;
      }
      socket.pause();
      setTimeout(() => socket.resume(), PAUSE_MS);
    });
    socket.resume();
  });
  socket.destroy();
  if (!head.startsWith('HTTP/1.1 200 ')) throw new Error(`A slow reader was answered ${head.slice(0, 100)}`);
}
