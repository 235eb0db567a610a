// Parts of calls, and differences with reasons, that several services share.

export const json = { 'content-type': 'application/json' };
export const form = { 'content-type': 'application/x-www-form-urlencoded' };
export const multipart = { 'content-type': 'multipart/form-data; boundary=border' };

/** One part of a body with the boundary of `multipart`. */
export function part(disposition: string, content: string, type?: string): string {
  const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  return `--border\r\nContent-Disposition: form-data; ${disposition}\r\n${typed}\r\n${content}\r\n`;
}

export const END = '--border--\r\n';

/** The gateway refuses requests against the contract, so that the service does not see them. */
export const refusedByContract = { status: 'the gateway refuses the request itself, with 400' };

/** Differences that hold for all calls where they occur. */
export const everywhere = {
  'cache-control': 'the answer to a caller with a key is private, so that no shared cache gives it to another caller',
};
