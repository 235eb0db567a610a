// Events on a connection besides requests: bans, bytes that are no HTTP, and WebSockets.
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Login } from './accounts.ts';
import type { AddressOf } from './address.ts';
import type { Bans } from './bans.ts';
import type { Rates } from './rates.ts';
import { accountIdOf } from './session.ts';
import type { WebSockets } from './web-socket.ts';

/** A banned address is let in by the operating system and dropped without a word. */
export function dropBanned(server: Server, bans: Bans): void {
  server.on('connection', (socket) => {
    if (bans.isBanned(socket.remoteAddress ?? '')) socket.destroy();
  });
}

/** Answers bytes that are no HTTP with a bare 400 or 431. */
export function answerMalformed(server: Server, countMalformed: (socket: Socket) => void): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const isParserError = error.code?.startsWith('HPE_') === true;
    if (isParserError) countMalformed(socket);
    if (!isParserError || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
  });
}

interface UpgradeParts {
  readonly addressOf: AddressOf;
  readonly login: Login;
  readonly rates: Rates;
  readonly webSockets: WebSockets;
  refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void;
}

/** The handshake itself has been found good by then. */
export function acceptUpgrades(server: Server, { addressOf, login, rates, webSockets, refuse }: UpgradeParts): void {
  async function upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const account = await login(request.headers.authorization, addressOf(request), true);
    const leave = rates.enter(account);
    webSockets.open({ accountId: accountIdOf(account), name: account.name }, request, socket, head);
    leave();
  }

  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // A client that is gone is no fault.
    socket.on('error', () => socket.destroy());
    upgrade(request, socket, head).catch((error: unknown) => {
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.on('finish', () => socket.end());
      refuse(request, response, error);
    });
  });
}
