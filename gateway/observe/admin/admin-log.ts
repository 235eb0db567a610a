// Writes one line per request to the admin listener, without headers and query, so that it contains no token, cookie or name of an
// organization.

import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { pinoHttp } from 'pino-http';

const PATH_LENGTH_MAX = 200;

/** Creates the middleware that logs requests. It also sends the request id as X-Request-Id. */
export function createAdminLog(logger: Logger) {
  return pinoHttp({
    logger,
    // A child logger keeps the level of its start. The level in force decides in `levelOf`.
    level: 'trace',
    genReqId(_request, response) {
      const id = `admin_${randomBytes(10).toString('hex')}`;
      response.setHeader('X-Request-Id', id);
      return id;
    },
    customLogLevel: (request, response) => levelOf(logger, request, response),
    // Leaves out the library's own objects of request, response and error, because they contain all headers.
    quietReqLogger: true,
    quietResLogger: true,
    serializers: { req: () => undefined },
    customAttributeKeys: { reqId: 'request_id', responseTime: 'duration_ms' },
    customSuccessObject: membersOf,
    customErrorObject: (request, response, _error, loggable) => membersOf(request, response, loggable),
    customSuccessMessage: () => 'admin request',
    customErrorMessage: () => 'admin request',
  });
}

/**
 * Returns the level of a line. Successful scrapes of metrics, and files and polls of the console, are logged at debug, because they repeat.
 */
function levelOf(logger: Logger, request: IncomingMessage, { statusCode }: ServerResponse) {
  const path = pathOf(request);
  const isRoutine = (path === '/metrics' || path.startsWith('/console/')) && statusCode < 400;
  const level = statusCode >= 500 ? 'warn' : isRoutine ? 'debug' : 'info';
  return logger.isLevelEnabled(level) ? level : 'silent';
}

function membersOf(
  request: IncomingMessage,
  { statusCode: status, writableFinished }: ServerResponse,
  { duration_ms }: { readonly duration_ms: number },
) {
  const { method, socket } = request;
  const aborted = writableFinished ? {} : { aborted: true };
  return {
    method,
    path: pathOf(request).slice(0, PATH_LENGTH_MAX),
    status,
    client: socket.remoteAddress,
    duration_ms,
    ...aborted,
  };
}

/** Returns the path of the request. Express changes `url` below a mounted path, and keeps the original in `originalUrl`. */
function pathOf({ url = '', originalUrl = url }: IncomingMessage & { readonly originalUrl?: string }): string {
  return originalUrl.split('?', 1)[0] as string;
}
