// Opens and closes the listeners of the gateway: for clients, for operators and for workers.

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keepErrorListeners, reportAcceptErrors } from './socket-errors.ts';

/**
 * Opens a listener and returns its port. All listeners use it.
 *
 * @param setting the variable or key of the port
 * @throws a sentence with the reason and the remedy if the address is not available
 */
export async function listen(server: Server, host: string, port: number, setting = 'the port'): Promise<number> {
  keepErrorListeners(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new Error(`Cannot listen on ${host}:${port}: ${reasonOf(error, setting)}.`));
    });
    server.listen(port, host, resolve);
  });
  reportAcceptErrors(server);
  return (server.address() as AddressInfo).port;
}

function reasonOf({ code, message }: NodeJS.ErrnoException, setting: string): string {
  if (code === 'EADDRINUSE') return `something else listens there. Stop it, or set ${setting} to a free port`;
  if (code === 'EACCES') return `this account may not use the port. Set ${setting} to 1024 or more`;
  return code ?? message;
}

/** Closes a listener and all its connections. */
export async function closeAtOnce(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
