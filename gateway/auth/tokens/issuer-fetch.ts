// Fetches the keys of an issuer with one GET, and accepts as little as possible in the answer.

const BODY_BYTES_MAX = 1_048_576;
const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i;

/**
 * Returns the body of the answer. Rejects with a reason for operators: unreachable, too slow, a status other than 200, not JSON, too long.
 */
export async function fetchKeySet(url: string, signal: AbortSignal): Promise<string> {
  try {
    // A redirect is rejected like any other status than 200: only the configuration determines where keys come from.
    const answer = await fetch(url, { signal, redirect: 'manual', headers: { accept: 'application/json' } });
    return await readBody(answer);
  } catch (cause) {
    throw new Error(reasonOf(cause), { cause });
  }
}

async function readBody({ status, headers, body }: Response): Promise<string> {
  const wrong = wrongAbout(status, headers.get('content-type') ?? '');
  if (wrong !== undefined) {
    await body?.cancel();
    throw new Error(wrong);
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new Error(`its answer is longer than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function wrongAbout(status: number, type: string): string | undefined {
  if (status !== 200) return `it answered with status ${status}`;
  return JSON_TYPE.test(type) ? undefined : 'its answer is not declared to be JSON';
}

/** The errors of fetch say "fetch failed" and carry the reason as their cause. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  if (thrown.name === 'TimeoutError') return 'it did not answer in time';
  const { code, message } = (thrown.cause ?? thrown) as NodeJS.ErrnoException;
  return typeof code === 'string' ? code : message;
}
