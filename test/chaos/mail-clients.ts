// Clients of the mail server: an administrator who looks principals up, and a mail user with a WebSocket and an event stream, who opens
// them anew after every end.

import { randomUUID } from 'node:crypto';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { basic, newPassword } from '../support/mail.ts';
import { MARGIN_MS } from './clients.ts';
import type { Disturbances } from './disturbances.ts';
import type { Exchange } from './exchanges.ts';
import { send } from './sending.ts';

interface MailOptions {
  readonly port: number;
  /** Of an organization that may administrate mail. */
  readonly key: string;
  readonly disturbances: Disturbances;
  note(exchange: Exchange): void;
  object(what: string): void;
  isOver(): boolean;
}

export interface MailTally {
  echoes: number;
  socketsOpened: number;
  streamsOpened: number;
}

/** That of its entry in the shipped configuration. */
const TIMEOUT_MS = 30_000;
const ECHO_TIMEOUT_MS = 8000;
const PAUSE_MS = 500;
const CORE = 'urn:ietf:params:jmap:core';

/** Resolves when it is over. Rejects when not even a mail user can be made. */
export async function runMailClients(options: MailOptions): Promise<MailTally> {
  const password = newPassword();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const authorization = `Bearer ${options.key}`;
  const user = basic('dana', password);
  const tally: MailTally = { echoes: 0, socketsOpened: 0, streamsOpened: 0 };
  const ask = (method: string, path: string, body?: object) =>
    send({
      port: options.port,
      agent,
      method,
      path,
      headers: { authorization },
      body,
      deadlineMs: TIMEOUT_MS + MARGIN_MS,
    });
  const made = await ask('POST', '/api/principal', { type: 'individual', name: 'dana', secrets: [password] });
  if (made.kind !== 'answered' || made.status !== 200) throw new Error(`No mail user: ${JSON.stringify(made)}`);

  async function administrate(): Promise<void> {
    while (!options.isOver()) {
      const sentAt = Date.now();
      const outcome = await ask('GET', '/api/principal/dana');
      options.note({ kind: 'mail', organization: 'org_operators', sentAt, endedAt: Date.now(), outcome });
      if (outcome.kind === 'answered' && outcome.status === 200) {
        const { data } = JSON.parse(outcome.body) as { data?: { name?: string } };
        if (data?.name !== 'dana') options.object(`another principal: ${outcome.body}`);
      }
      await sleep(PAUSE_MS);
    }
    agent.destroy();
  }

  await Promise.all([administrate(), talk(options, user, tally), listen(options, user, tally)]);
  return tally;
}

/** Through a WebSocket: each message comes back. */
async function talk({ port, disturbances, object, isOver }: MailOptions, authorization: string, tally: MailTally) {
  // The client of Node can send headers, which that of browsers cannot.
  const Client = WebSocket as unknown as new (address: string, options: object) => WebSocket;
  while (!isOver()) {
    const socket = new Client(`ws://127.0.0.1:${port}/jmap/ws`, { protocols: ['jmap'], headers: { authorization } });
    const ended = new Promise<'ended'>((resolve) => {
      socket.addEventListener('close', () => resolve('ended'));
      socket.addEventListener('error', () => resolve('ended'));
    });
    const opened = await Promise.race([ended, new Promise((resolve) => socket.addEventListener('open', resolve))]);
    let isOpen = opened !== 'ended';
    if (isOpen) tally.socketsOpened += 1;
    while (isOpen && !isOver()) {
      isOpen = await echo();
      await sleep(PAUSE_MS);
    }
    if (!isOver() && !disturbances.explainStreamEnd(Date.now()))
      object('a WebSocket ended, or did not begin, for no reason');
    socket.close();
    await sleep(PAUSE_MS);

    async function echo(): Promise<boolean> {
      const said = randomUUID();
      const heard = new Promise<string>((resolve) =>
        socket.addEventListener('message', ({ data }) => resolve(String(data)), { once: true }),
      );
      const methodCalls = [['Core/echo', { said }, 'c1']];
      socket.send(JSON.stringify({ '@type': 'Request', id: said, using: [CORE], methodCalls }));
      const silence = AbortSignal.timeout(ECHO_TIMEOUT_MS);
      const answer = await Promise.race([
        heard,
        ended,
        new Promise<'silence'>((resolve) => silence.addEventListener('abort', () => resolve('silence'))),
      ]);
      if (answer === 'ended') return false;
      if (answer === 'silence' || !answer.includes(said)) object(`a WebSocket said ${answer} to an echo`);
      tally.echoes += 1;
      return answer !== 'silence';
    }
  }
}

/** To an event stream, for as long as it lasts. */
async function listen({ port, disturbances, object, isOver }: MailOptions, authorization: string, tally: MailTally) {
  while (!isOver()) {
    const path = '/jmap/eventsource/?types=*&closeafter=no&ping=30';
    const request = get({ host: '127.0.0.1', port, path, headers: { authorization }, agent: false });
    const ended = new Promise<void>((resolve) => {
      request.on('error', () => resolve());
      request.on('response', (answer) => {
        if (answer.statusCode === 200) tally.streamsOpened += 1;
        answer.resume().on('error', () => undefined);
        answer.on('close', () => resolve());
      });
    });
    const over = setInterval(() => isOver() && request.destroy(), 100);
    await ended;
    clearInterval(over);
    if (!isOver() && !disturbances.explainStreamEnd(Date.now()))
      object('an event stream ended, or did not begin, for no reason');
    await sleep(PAUSE_MS);
  }
}
